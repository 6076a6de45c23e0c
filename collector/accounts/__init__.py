"""What became of traces: a bounded record of events, and the answer that is made of it when somebody asks."""
