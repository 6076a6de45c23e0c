"""One reader per dialect: a span with its keys in, neutral facts out."""
