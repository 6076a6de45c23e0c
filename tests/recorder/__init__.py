"""Recordings of instrumented agents, made by really running them: see README.md."""
