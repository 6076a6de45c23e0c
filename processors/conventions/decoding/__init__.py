"""What instrumentations write in common: JSON in text, messages, calls, results and definitions in all their shapes."""
