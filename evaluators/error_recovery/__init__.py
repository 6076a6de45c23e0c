"""Error recovery: what became of each tool error of a run.

In goes a whole run, out comes the share of its tool errors that were recovered from or given up on honestly.  It never
asks why a tool failed, and never calls an error hidden or an answer made up by rule: that is for a judge to confirm.
"""

from evaluators.error_recovery.evaluator import ErrorRecovery
from evaluators.error_recovery.settings import ErrorRecoverySettings

__all__ = ["ErrorRecovery", "ErrorRecoverySettings"]
