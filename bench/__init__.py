"""Measurements, each printed as figures and ratios of one run: `python -m bench.<name>`."""
