"""From questions that belong together to their answers: conversations with a model, within every limit."""
