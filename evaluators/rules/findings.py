"""What a rule found, before it becomes an issue of a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.issues import IssueCode


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, or the suspicion of one; `detail` is a sentence for people, not yet redacted."""

    code: IssueCode
    detail: str
    call_id: str | None = None
    conclusive: bool = False
