"""Known faults put into good runs, to see whether they are found."""

from evaluators.probing.faults import FAULTS, Fault, Injected, inject

__all__ = ["FAULTS", "Fault", "Injected", "inject"]
