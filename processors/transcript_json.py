"""A transcript as the JSON object that `spanjudge transcript --json` prints.

The keys are a stable contract; ids are lower-case hex, absent facts null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluators.cases import JsonValue, Plan, Run, Tool, ToolCall
from processors.conventions.decoding.definitions import distinct
from processors.transcript import Transcript


def transcript_json(transcript: Transcript) -> dict[str, JsonValue]:
    """The transcript as plain JSON values."""
    runs = transcript.runs
    return {
        "trace_id": transcript.trace_id,
        "session_id": transcript.session_id,
        "user_inputs": [text for run in runs for text in run.user_inputs or ()],
        "system_prompts": list(dict.fromkeys(text for run in runs for text in run.system_prompts)),
        "tools": [_tool(tool) for tool in offered_tools(runs)],
        "tool_calls": [_call(call, turn_ref) for run in runs for call, turn_ref in _calls(run)],
        "final_answer": next((run.final_answer for run in reversed(runs) if run.final_answer is not None), None),
        "agents": [
            {"name": agent.name, "span_id": agent.span_id, "parent_span_id": agent.parent}
            for agent in transcript.agents
        ],
        "plan": [plan_json(plan) for run in runs for plan in run.plans] or None,
        "dialects": list(transcript.dialects),
        "unknown_spans": {"read": list(transcript.unknown), "unread": list(transcript.unread)},
        "missing": [{"fact": missing.fact, "remedy": missing.remedy} for missing in transcript.missing],
        "continues": transcript.continues,
    }


def offered_tools(runs: Iterable[Run]) -> list[Tool]:
    """Every tool that was offered at some turn or for some call, the fullest definition of each."""
    offers: dict[int, tuple[Tool, ...]] = {}
    for run in runs:
        for tools in (*(turn.tools for turn in run.turns), *(call.offered for call in run.loose_calls)):
            if tools is not None:
                offers[id(tools)] = tools
    return list(distinct(tool for tools in offers.values() for tool in tools))


def plan_json(plan: Plan) -> JsonValue:
    """A visible plan. `revises`: it takes the place of the plan before."""
    return {
        "source": plan.source.value,
        "agent": plan.agent,
        "turn": plan.turn,
        "span_id": plan.ref,
        "revises": plan.revises,
        "steps": [
            {
                "text": step.text,
                "state": step.state.value if step.state is not None else None,
                "owner": step.owner,
                "call_id": step.call_id,
            }
            for step in plan.steps
        ],
    }


def _calls(run: Run) -> Iterable[tuple[ToolCall, str | None]]:
    for turn in run.turns:
        for call in turn.calls:
            yield call, turn.ref
    for call in run.loose_calls:
        yield call, None


def _tool(tool: Tool) -> JsonValue:
    return {"name": tool.name, "description": tool.description, "schema": _plain(tool.parameters)}


def _call(call: ToolCall, turn_ref: str | None) -> JsonValue:
    arguments = call.arguments
    return {
        "id": call.id,
        "name": call.name,
        "arguments": arguments if arguments is None or isinstance(arguments, str) else dict(arguments),
        "result": call.result.content if call.result is not None else None,
        "error": call.result.error if call.result is not None else None,
        "span_id": call.ref,
        "llm_span_id": turn_ref,
    }


def _plain(schema: Mapping[str, JsonValue] | None) -> JsonValue:
    return dict(schema) if schema is not None else None
