"""What ends a start: something on this machine that a component needs and can't have."""

from __future__ import annotations


class StartError(Exception):
    """A component can't start; the message names the place, the configuration key and the remedy."""
