"""The scripted model: it answers over the providers' own protocols, always the same to the same request number."""
