"""What makes two questions about two runs the same to a judge: a key for answers that are kept.

In: a run made ready to be shown, a question about it, and the judge's settings.  Out: a hash of everything that the
model would read or that shapes its answer: instructions, record, criteria, subject, suspicions, schema, model, address,
temperature.  Left out is only what is drawn at random (the fence) and what ids and times the run has, which are never
shown.  What rules and arithmetic make of an answer is no part of it: that is computed anew each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import orjson

from evaluators.judge.answering.schema import answer_schema
from evaluators.judge.instructions import INSTRUCTIONS
from evaluators.judge.question import Question
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.showing.prompt import ShownRun

_FORM = 1
"""Raised when answers are kept or shown in another way that the hashed parts don't tell."""
# What says how hard a judge is worked, not what it is asked.
_NO_MATTER = {
    "api_key", "headers", "timeout", "max_concurrent_requests", "max_retries", "limits", "budget", "prices", "breaker",
    "cache", "escalate_to", "escalate_below",
}  # fmt: skip


def case_keys(shown: ShownRun, questions: Sequence[Question], settings: JudgeSettings) -> list[bytes]:
    """The key of each question."""
    told = settings.model_dump_json(exclude=_NO_MATTER)
    run = hashlib.blake2b(digest_size=32)
    for part in (str(_FORM), INSTRUCTIONS, told, repr(shown.pieces)):
        run.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return [_key(run.copy(), shown, question) for question in questions]


def manner_of(settings: JudgeSettings) -> str:
    """A short hash of how a judge is asked, apart from model and address: instructions and settings."""
    told = settings.model_dump_json(exclude=_NO_MATTER | {"model", "base_url"})
    return hashlib.blake2b(f"{_FORM}\0{INSTRUCTIONS}\0{told}".encode(), digest_size=8).hexdigest()


def _key(run: hashlib.blake2b, shown: ShownRun, question: Question) -> bytes:
    asked = (
        question.evaluator,
        question.criteria,
        _spoken(shown, question.subject),
        [_spoken(shown, finding) for finding in question.findings],
        [shown.aliases.call(call_id) for call_id in question.call_ids],
        answer_schema([("q", question)], shown.aliases),
    )
    run.update(orjson.dumps(asked))
    return run.digest()


def _spoken(shown: ShownRun, text: str) -> str:
    return shown.quote(text).replace(shown.fence.mark, "")
