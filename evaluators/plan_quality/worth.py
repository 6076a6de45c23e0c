"""What the faults of a plan cost.

score = 1 - the sum of all deductions, at least 0.  A fault costs once for every step that has it, and one that several
versions of a plan have costs once.  The heavy faults make a plan that can't do the task as it was set: with one of them
a plan still passes the default threshold, with two it doesn't, and one taken apart in the wrong way fails by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evaluators.issues import IssueCode, Severity

DEDUCTIONS: dict[IssueCode, float] = {
    IssueCode.WRONG_DECOMPOSITION: 0.6,
    IssueCode.MISSING_STEP: 0.3,
    IssueCode.MISSING_CONSTRAINT: 0.3,
    IssueCode.UNAVAILABLE_TOOL: 0.3,
    IssueCode.WRONG_DELEGATE: 0.3,
    IssueCode.NO_CONFIRMATION_OR_ROLLBACK: 0.3,
    IssueCode.UNCHECKED_PRECONDITION: 0.15,
    IssueCode.NO_VERIFICATION: 0.15,
    IssueCode.NO_ERROR_PATH: 0.15,
    IssueCode.UNCLEAR_OWNERSHIP: 0.15,
    IssueCode.NO_INTEGRATION: 0.15,
    IssueCode.OVERCOMPLICATED: 0.1,
    IssueCode.SERIAL_INSTEAD_OF_PARALLEL: 0.1,
}
_LIGHT = 0.15


class Fault(NamedTuple):
    """A fault of a step (0: of the plan as a whole) of a plan, both numbered from 1."""

    code: IssueCode
    plan: int
    step: int


def plan_score(faults: Iterable[Fault]) -> float:
    """1 minus the deductions, at least 0."""
    places: dict[IssueCode, dict[int, set[int]]] = {}
    for fault in faults:
        places.setdefault(fault.code, {}).setdefault(fault.plan, set()).add(fault.step)
    lost = sum(DEDUCTIONS[code] * max(map(len, by_plan.values())) for code, by_plan in places.items())
    return max(0.0, round(1.0 - lost, 4))


def severity_of(code: IssueCode) -> Severity:
    """How bad a fault of a plan is: light ones are minor."""
    return Severity.MINOR if DEDUCTIONS[code] <= _LIGHT else Severity.MAJOR
