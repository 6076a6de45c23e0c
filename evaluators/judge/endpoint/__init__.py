"""One request to an OpenAI-compatible endpoint, and what its refusals teach about how it wants to be asked."""
