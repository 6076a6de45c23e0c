"""Spans that were acknowledged and haven't left: grouped into traces, held until judged, within a budget."""
