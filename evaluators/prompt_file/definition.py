"""What stands in a prompt file: Markdown whose criteria follow a few keys, or the same as YAML alone.

    ---
    judges: run
    threshold: 0.5
    labels: {polite: 1, curt: 0.5, rude: 0, no_answer: null}
    ---
    Judge the tone of the final answer. ...

The criteria are the operator's own words and are sent as they are.  What is judged is shown apart from them, in the
record that all evaluators share, so nothing is filled in anywhere, and what an agent or a user wrote can't become part
of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from evaluators.cases import CaseKind
from evaluators.verdict import Level

MAX_CRITERIA_CHARS = 12_000
_PLACEHOLDER = re.compile(
    r"\{\{[^{}\n]*\}\}|\{(?:input|inputs|output|outputs|question|query|answer|response|context|messages|conversation|"
    r"transcript|trace|tools?|tool_calls?|reference|expected|expected_output|ground_truth)\}"
)


class Need(StrEnum):
    """A fact without which there is nothing to judge by; the verdict then is `missing_input`."""

    USER_INPUT = "user_input"
    SYSTEM_PROMPT = "system_prompt"
    FINAL_ANSWER = "final_answer"
    TOOLS = "tools"
    ARGUMENTS = "arguments"
    TOOL_RESULTS = "tool_results"


_USUAL_NEEDS: Mapping[CaseKind, tuple[Need, ...]] = {
    CaseKind.RUN: (Need.USER_INPUT, Need.FINAL_ANSWER),
    CaseKind.SESSION: (Need.USER_INPUT, Need.FINAL_ANSWER),
    CaseKind.DECISION: (Need.USER_INPUT,),
    CaseKind.CALLS: (Need.USER_INPUT, Need.ARGUMENTS),
    CaseKind.RESPONSE: (Need.USER_INPUT, Need.TOOL_RESULTS),
}
_LEVELS: Mapping[CaseKind, Level] = {CaseKind.RUN: Level.TRACE, CaseKind.SESSION: Level.SESSION}


def _plain_label(label: str) -> str:
    if not label or label != label.strip() or len(label) > 40 or not label.isprintable():
        raise ValueError("a label has up to 40 printable characters and no blanks around it; write such a word")
    return label


def _without_placeholders(text: str) -> str:
    found = _PLACEHOLDER.search(text)
    if found:
        raise ValueError(
            f"{found[0]} is a placeholder, and nothing is filled in: the judge is shown the run before the criteria; "
            "write 'the final answer', 'the result of the call' or the like in its place"
        )
    if len(text) > MAX_CRITERIA_CHARS:
        raise ValueError(f"is longer than {MAX_CRITERIA_CHARS:,} characters; shorten it")
    if not text.strip():
        raise ValueError("is empty; say by what the labels are to be chosen")
    return text.strip()


Label = Annotated[str, AfterValidator(_plain_label)]
Score = Annotated[float, Field(ge=0.0, le=1.0)]


class PromptDefinition(BaseModel):
    """What to judge, by which criteria, and what each label is worth.

    `judges`    a whole run, or each decision, calls or response (use of results) of it, or a whole session.
    `labels`    what the judge may answer, each with its score: higher is better, null says that it isn't applicable.
    `threshold` a label whose score reaches it passes.
    `needs`     the facts that have to be captured; by default those that such a case can't be judged without.
    `judge`     the judge to ask where the configuration names none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    judges: CaseKind
    labels: dict[Label, Score | None]
    threshold: Score
    criteria: Annotated[str, AfterValidator(_without_placeholders)]
    needs: tuple[Need, ...] | None = None
    judge: str | None = None

    @property
    def level(self) -> Level:
        """Where the verdict belongs."""
        return _LEVELS.get(self.judges, Level.SPAN)

    @property
    def required(self) -> tuple[Need, ...]:
        """The facts that have to be captured."""
        return _USUAL_NEEDS[self.judges] if self.needs is None else self.needs

    @model_validator(mode="after")
    def _labels_differ(self) -> PromptDefinition:
        check_threshold(self.labels, self.threshold)
        return self


def check_threshold(labels: Mapping[str, float | None], threshold: float) -> None:
    """Raises ValueError, `what; remedy`, unless some label passes at the threshold and some other doesn't."""
    passing = {score >= threshold for score in labels.values() if score is not None}
    if passing != {True, False}:
        every = "no" if passing == {False} else "every" if passing else "no"
        raise ValueError(
            f"with threshold {threshold:g} {every} label passes; give the labels scores on both sides of the threshold"
        )
