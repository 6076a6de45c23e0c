"""Between bytes and meaning: what an agent did is read out of spans, evaluators are asked, scores are written back."""
