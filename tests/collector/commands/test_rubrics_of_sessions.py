"""A travel planner's session, from saved spans to its states of steps and codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.evaluators.rubric.travel import ALL_TOOLS, ASK_BACK, ASKED, DRAFT, GUIDES, MAP, REPLY

ROOT = Path(__file__).parents[3]
START = 1_700_000_000
EXCHANGE_S = 100


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def span(
    trace: int, number: int, name: str, kind: str, attributes: dict[str, str], *, length_s: int = 1
) -> dict[str, Any]:
    """A span of OpenInference; the first of a trace is its root."""
    begin = START + trace * EXCHANGE_S + number
    told = {"openinference.span.kind": kind, "session.id": "s-1", **attributes}
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{trace:08x}{number:08x}",
        "parentSpanId": f"{trace:08x}{1:08x}" if number > 1 else "",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": f"{begin}000000000",
        "endTimeUnixNano": f"{begin + length_s}000000000",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()],
    }


def run(trace: int, user: str, before: Sequence[tuple[str, str]], tools: Sequence[Any], said: object) -> Iterator[Any]:
    """An agent's span with a model call, its tools, and the model call that answers."""
    yield span(trace, 1, "planner", "AGENT", {"input.value": user, "output.value": as_json(said)}, length_s=50)
    messages = {
        f"llm.input_messages.{at}.message.{key}": value
        for at, (role, text) in enumerate([*before, ("user", user)])
        for key, value in (("role", role), ("content", text))
    }
    number = 2
    for name, given, result in tools:
        call = "llm.output_messages.0.message.tool_calls.0.tool_call"
        calls = {
            "llm.output_messages.0.message.role": "assistant",
            f"{call}.id": f"call_{trace}_{number}",
            f"{call}.function.name": name,
            f"{call}.function.arguments": as_json(given),
        }
        yield span(trace, number, "model", "LLM", messages | calls)
        executed = {"tool.name": name, "input.value": as_json(given), "output.value": result}
        yield span(trace, number + 1, name, "TOOL", executed)
        number += 2
    answer = {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": as_json(said)}
    yield span(trace, number, "model", "LLM", messages | answer)


def judged(directory: Path, tools: Sequence[Any], said: object) -> dict[str, Any]:
    """The verdict on a session in which the agent asked back first and then did this."""
    history = [("user", ASKED), ("assistant", as_json(ASK_BACK))]
    spans = [*run(1, ASKED, [], (), ASK_BACK), *run(2, REPLY, history, tools, said)]
    scope = {"scope": {"name": "openinference.instrumentation"}, "spans": spans}
    saved, config = directory / "session.json", directory / "otel-config.yaml"
    saved.write_text(as_json({"resourceSpans": [{"resource": {}, "scopeSpans": [scope]}]}))
    processors: dict[str, Any] = {"assemble": {}, "workflow_compliance": {}}
    pipeline = {"receivers": ["otlp"], "processors": list(processors), "exporters": ["console"]}
    config.write_text(
        yaml.safe_dump(
            {
                "receivers": {"otlp": {"protocols": {"grpc": {}}}},
                "processors": processors,
                "exporters": {"console": {}},
                "service": {"pipelines": {"traces": pipeline}},
            }
        )
    )
    command = [sys.executable, "-m", "collector", "replay", "--format", "jsonl", "--config", str(config), str(saved)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [verdict] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert (verdict["evaluator"], verdict["level"], verdict["session_id"]) == ("workflow_compliance", "session", "s-1")
    found: dict[str, Any] = verdict
    return found


@pytest.mark.parametrize(
    ("tools", "said", "status", "score", "codes"),
    [
        pytest.param(ALL_TOOLS, DRAFT, "needs_judge", None, [], id="asked, then planned with every step"),
        pytest.param((GUIDES, MAP), DRAFT, "ok", 0.7, ["V-13"], id="without a review"),
        pytest.param((), DRAFT, "ok", 0.1, ["V-11", "V-12", "V-13"], id="without any tool"),
        pytest.param((), ASK_BACK, "ok", 0.75, ["V-08"], id="asked again"),
    ],
)
def test_a_session_is_judged_from_its_spans(
    tmp_path: Path, tools: Sequence[Any], said: object, status: str, score: float | None, codes: list[str]
) -> None:
    verdict = judged(tmp_path, tools, said)
    assert (verdict["status"], verdict["score"]) == (status, score)
    assert sorted(issue["code"] for issue in verdict["issues"]) == codes
