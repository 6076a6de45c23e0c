"""Workflows of Microsoft's Agent Framework."""

from __future__ import annotations

import json

import pytest

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from processors.conventions.registry import Readers
from processors.otlp import Span
from processors.reading.transcribe import transcribe


def span(span_id: str, parent: str | None, name: str, attributes: dict[str, JsonValue]) -> Span:
    place = int(span_id[1:])
    return Span(
        trace_id="t",
        span_id=span_id,
        parent_id=parent,
        name=name,
        start_ns=place,
        end_ns=place + 9,
        attributes=attributes,
    )


@pytest.mark.parametrize(
    ("name", "attributes", "kind"),
    [
        ("workflow.run", {"workflow.id": "w"}, Kind.WORKFLOW),
        ("workflow.build", {"workflow.id": "w"}, Kind.BOOKKEEPING),
        ("executor.process desk", {"executor.id": "desk"}, Kind.CHAIN),
    ],
)
def test_what_a_span_stands_for(name: str, attributes: dict[str, JsonValue], kind: Kind) -> None:
    facts = Readers().read(span("s1", None, name, attributes))
    assert facts is not None and facts.kind is kind


def test_other_peoples_workflows_are_not_read() -> None:
    assert Readers().read(span("s1", None, "workflow.run", {"job": "nightly"})) is None
    assert Readers().read(span("s1", None, "nightly", {"workflow.id": "w"})) is None


def test_the_agents_of_a_workflow_are_one_run() -> None:
    asked: JsonValue = {"role": "user", "parts": [{"type": "text", "content": "Is Emma in?"}]}
    first: JsonValue = {"role": "assistant", "parts": [{"type": "text", "content": "Two copies are in."}]}
    last: JsonValue = {"role": "assistant", "parts": [{"type": "text", "content": "Yes."}]}

    def agent(number: int, step: str, given: list[JsonValue], answer: JsonValue) -> list[Span]:
        return [
            span(f"s{number}", step, "invoke_agent", {"gen_ai.operation.name": "invoke_agent"}),
            span(
                f"s{number + 1}",
                f"s{number}",
                "chat",
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.input.messages": json.dumps(given),
                    "gen_ai.output.messages": json.dumps([answer]),
                },
            ),
        ]

    (run,) = transcribe(
        "t",
        [
            span("s0", None, "workflow.run", {"workflow.id": "w"}),
            span("s1", "s0", "executor.process desk", {"executor.id": "desk"}),
            *agent(2, "s1", [asked], first),
            span("s5", "s0", "executor.process editor", {"executor.id": "editor"}),
            *agent(6, "s5", [asked, first], last),
        ],
    ).runs
    assert (run.ref, run.user_inputs, run.final_answer) == ("s0", ("Is Emma in?",), "Yes.")
