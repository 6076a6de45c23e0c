"""Runs evaluators of other libraries; started by the bench under the Python of their own environment.

In: one JSON object per line on standard input: `library`, `evaluator` (ours, to which theirs is comparable),
`base_url`, `model`, `fields`.  Out: one per line on standard output: `good` (true, false, or null where there is no
verdict), `score`, `reason`.  Each library is used as its documentation says, with its defaults; temperature is 0.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

_ANY_KEY = "none-needed"
_LONGEST_REASON = 300

Asked = Mapping[str, Any]
Told = dict[str, Any]


def by_phoenix(asked: Asked) -> Told:
    from phoenix.evals import LLM
    from phoenix.evals.metrics import (
        ToolInvocationEvaluator,
        ToolResponseHandlingEvaluator,
        ToolSelectionEvaluator,
    )

    kinds = {
        "tool_selection": ToolSelectionEvaluator,
        "tool_invocation": ToolInvocationEvaluator,
        "tool_response_handling": ToolResponseHandlingEvaluator,
    }
    llm = LLM(provider="openai", model=asked["model"], base_url=asked["base_url"], api_key=_ANY_KEY)
    (score,) = kinds[asked["evaluator"]](llm=llm, temperature=0.0).evaluate(asked["fields"])
    good = {"correct": True, "incorrect": False}.get(score.label)
    return {"good": good, "score": score.score, "reason": score.explanation}


def by_deepeval(asked: Asked) -> Told:
    from deepeval.metrics import ArgumentCorrectnessMetric, TaskCompletionMetric, ToolCorrectnessMetric
    from deepeval.models import OpenAIModel
    from deepeval.test_case import LLMTestCase, ToolCall

    class AnyModel(OpenAIModel):  # type: ignore[misc]
        """Their client for OpenAI's API, which asks models it doesn't know by name for no schema."""

        def supports_structured_outputs(self) -> bool:
            return True

    fields = asked["fields"]
    model = AnyModel(
        model=asked["model"],
        api_key=_ANY_KEY,
        base_url=asked["base_url"],
        temperature=0,
        cost_per_input_token=0,
        cost_per_output_token=0,
    )
    calls = [ToolCall(**call) for call in fields["tools_called"]]
    case = LLMTestCase(
        input=fields["input"],
        actual_output=fields.get("actual_output"),
        tools_called=calls,
        # Expected is what was called: then the score is that of the model, whether the choice fits the tools on offer.
        expected_tools=calls,
    )
    if asked["evaluator"] == "tool_selection":
        offered = [ToolCall(**tool) for tool in fields["available_tools"]]
        metric: Any = ToolCorrectnessMetric(available_tools=offered, model=model)
    elif asked["evaluator"] == "tool_invocation":
        metric = ArgumentCorrectnessMetric(model=model)
    else:
        metric = TaskCompletionMetric(model=model)
    metric.measure(case, _show_indicator=False)
    return {"good": bool(metric.success), "score": metric.score, "reason": metric.reason}


def by_ragas(asked: Asked) -> Told:
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory
    from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
    from ragas.metrics.collections import AgentGoalAccuracyWithoutReference

    def message(one: Mapping[str, Any]) -> Any:
        if one["type"] == "ai":
            return AIMessage(content=one["content"], tool_calls=[ToolCall(**call) for call in one["tool_calls"]])
        return (ToolMessage if one["type"] == "tool" else HumanMessage)(content=one["content"])

    async def score() -> float:
        async with AsyncOpenAI(api_key=_ANY_KEY, base_url=asked["base_url"]) as client:
            llm = llm_factory(asked["model"], client=client, temperature=0.0)
            metric = AgentGoalAccuracyWithoutReference(llm=llm)
            return float((await metric.ascore([message(one) for one in asked["fields"]["user_input"]])).value)

    value = asyncio.run(score())
    return {"good": value == 1.0, "score": value, "reason": ""}


_LIBRARIES: Mapping[str, Callable[[Asked], Told]] = {
    "phoenix": by_phoenix,
    "deepeval": by_deepeval,
    "ragas": by_ragas,
}


def main() -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    # Libraries print; that isn't part of the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            told = _LIBRARIES[asked["library"]](asked)
        except Exception as error:
            told = {"good": None, "score": None, "reason": f"{type(error).__name__}: {error}"}
        told["reason"] = str(told.get("reason") or "")[:_LONGEST_REASON]
        answers.write(json.dumps(told) + "\n")
        answers.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
