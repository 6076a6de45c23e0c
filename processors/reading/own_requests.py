"""Recognises requests of our own judges where somebody else traced them.

A gateway, or a library that instruments the judging process, sees a judge's requests as model calls like any other.  If
they were judged, each would bring forth the next.  In: a run.  Out: whether it is one of a judge.  Told by its
instructions alone, which whoever talks to an agent can't write.
"""

from __future__ import annotations

from evaluators.cases import Run
from evaluators.judge.instructions import INSTRUCTIONS

_BEGINNING = INSTRUCTIONS.partition("\n")[0]


def is_by_a_judge(run: Run) -> bool:
    """Whether a run is a request of one of our own judges, in whatever dialect it was traced."""
    return any(prompt.lstrip().startswith(_BEGINNING) for prompt in run.system_prompts)
