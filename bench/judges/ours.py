"""Our judge as a system of the bench: rules, and a judge for what they leave open.

In: cases.  Out: whether the verdict passes, whether a rule or the model decided, or the reason why there is no verdict.
"""

from __future__ import annotations

import asyncio
from typing import Self

from bench.judges.cases import LabelledCase
from bench.judges.records import Told
from evaluators.evaluation import Item, evaluate
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from evaluators.registry import EVALUATORS
from evaluators.verdict import Method, Status


class OurJudge:
    """A judge with its defaults, but for temperature 0, a long patience and what the model can read.

    Args:
        base_url: of the endpoint.
        model: its name there.
        max_prompt_tokens: as the setting of this name.
    """

    def __init__(self, base_url: str, model: str, *, max_prompt_tokens: int) -> None:
        self._settings = JudgeSettings.model_validate(
            {
                "model": model,
                "base_url": base_url,
                "temperature": 0,
                "timeout": "1h",
                "limits": {"deadline": "2h"},
                "max_concurrent_requests": 1,
                "max_prompt_tokens": max_prompt_tokens,
            }
        )

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        self._judge = OpenAIJudge(self._settings)
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._judge.close())
        self._runner.close()

    def ask(self, case: LabelledCase) -> Told:
        """The verdict on a case."""
        evaluator = EVALUATORS[case.named.evaluator].create()
        (verdict,) = self._runner.run(evaluate([Item(evaluator, case.named.case, self._judge)]))
        by = "model" if verdict.method is Method.JUDGE else "rule"
        if verdict.status is not Status.OK or verdict.passed is None:
            return Told(bad=None, by=by, reason=f"{verdict.status}: {verdict.explanation}")
        return Told(bad=not verdict.passed, by=by, reason=verdict.explanation)
