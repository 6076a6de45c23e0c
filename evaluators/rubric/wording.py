"""A rubric in words for a judge.

In: the rubric and a language.  Out: its criteria, the same for every case; and what is particular to one case.  Prices
are left out: what a violation costs is no reason to see one.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.rubric.model import Check, Rubric

_ASKED = (
    "Find what violates the checks below; an empty list is a good answer. Each violation once, with `quote`: words "
    "that stand in the record, exactly and no more than needed; for something that is missing, the words beside which "
    "it is missing. `item`: the place, step or datum it is about. A violation whose quote isn't in the record doesn't "
    "count. Don't weigh, grade or count points. Summary and suggestions in the language of the answer."
)


def criteria_of(rubric: Rubric, language: str) -> str:
    """The criteria."""
    lines = [f"{rubric.title.said_in(language)}: {rubric.question.said_in(language)}"]
    if rubric.guidance is not None:
        lines.append(rubric.guidance.said_in(language))
    lines.append(_ASKED)
    fields = [one for one in rubric.inputs if one.about is not None]
    if fields:
        lines.append("Fields of the agent's output:")
        lines += [f"- `{one.name}`: {one.about.said_in(language)}" for one in fields if one.about is not None]
    if rubric.evidence_tools:
        lines.append("Records are results of: " + ", ".join(f"`{name}`" for name in rubric.evidence_tools))
    if rubric.steps:
        lines.append("Steps:")
        lines += [f"- `{step.id}`: {step.title.said_in(language)}" for step in rubric.steps]
    lines.append("Checks:")
    lines += [_line(check, language) for check in rubric.checks if check.ask]
    if rubric.bonus:
        lines.append("To be named as well, as good things, with a quote:")
        lines += [f"- `{one.id}`: {one.text.said_in(language)}" for one in rubric.bonus]
    for what, questions in (("Of the whole:", rubric.questions), ("Of every violation:", rubric.classify)):
        if questions:
            lines.append(what)
            lines += [
                f"- `{name}` ({' | '.join(one.one_of)}): {one.text.said_in(language)}"
                for name, one in questions.items()
            ]
    return "\n".join(lines)


def _line(check: Check, language: str) -> str:
    lacking = ", ".join(f"{one.id} ({one.title.said_in(language)})" for one in check.elements)
    step = f" [{check.step}]" if check.step else ""
    return f"- `{check.id}`{step}: {check.text.said_in(language)}" + (f" `element`: {lacking}." if lacking else "")


def subject_of(left_out: Iterable[str]) -> str:
    """What a question is about: the whole run, without the checks that are settled."""
    names = ", ".join(left_out)
    return "The whole run." + (f" Already settled, not to be reported: {names}." if names else "")


def language_of(text: str, languages: tuple[str, ...]) -> str:
    """The one of these languages that a text is in, as far as its script tells; the first where it doesn't."""
    if "zh" in languages:
        chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in text[:20_000])
        latin = sum(letter.isascii() and letter.isalpha() for letter in text[:20_000])
        # a Chinese word has some two characters, an English one some five
        if chinese * 2 > latin:
            return "zh"
        if "en" in languages:
            return "en"
    return languages[0]
