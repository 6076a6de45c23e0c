"""What components say of each other, checked: evaluators that `admission` names, judges that escalate in a circle.

In: a configuration of which every part is valid by itself.  Out: problems with place and remedy.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.config import Config, Kind, Problem
from collector.config.problems import listed, suggestion
from collector.judging.setup import plan_of
from evaluators.judge.settings import JudgeSettings
from processors.admission_settings import AdmissionSettings


def cross_checks(config: Config) -> Iterator[Problem]:
    """Every problem found."""
    yield from _admission(config)
    yield from _escalation(config)


def _admission(config: Config) -> Iterator[Problem]:
    admission = config.processor("admission")
    named = {} if admission is None else admission.settings_as(AdmissionSettings).evaluators
    if admission is None or not named:
        return
    known = list(plan_of(config).evaluators)
    for name in named:
        if name not in known:
            yield config.problem(
                (Kind.PROCESSOR.value, admission.id, "evaluators", name),
                f"no evaluator named {name} is active",
                suggestion(name, known, otherwise=f"active are {listed(known)}"),
            )


def _escalation(config: Config) -> Iterator[Problem]:
    nexts = {
        component.id: component.settings.escalate_to
        for component in config.extensions.values()
        if isinstance(component.settings, JudgeSettings)
    }
    in_a_circle: set[str] = set()
    for judge_id in nexts:
        passed = [judge_id]
        while (after := nexts.get(passed[-1])) is not None and after not in passed:
            passed.append(after)
        if after == judge_id and not in_a_circle & set(passed):
            in_a_circle |= set(passed)
            yield config.problem(
                (Kind.EXTENSION.value, judge_id, "escalate_to"),
                f"leads back to {judge_id}: {' → '.join([*passed, judge_id])}",
                "the last judge, the one to trust most, escalates to nobody",
            )
