"""What really happened in a run, as `facts.json` tells it.

In: the script as far as it was served, what the model was shown, the journal of the tools, and the bytes of the
telemetry. Out: the facts, and of which of them there is no trace in the bytes. Never used: what a reader made of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator

from tests.recorder.content import Content, squash
from tests.recorder.model.exchange import Requested
from tests.recorder.model.server import Exchange
from tests.recorder.recordings.recording import Recording
from tests.recorder.scenarios import Scenario

_NOT_FOUND = "not found in the bytes"
Journal = Sequence[Mapping[str, Any]]


def facts_of(
    recording: Recording,
    scenario: Scenario,
    versions: Mapping[str, str],
    exchanges: Sequence[Exchange],
    journal: Journal,
    content: Content,
) -> dict[str, Any]:
    """The facts of a run, ready to be written as JSON."""
    raised = next((entry["raised"] for entry in journal if "raised" in entry), None)
    systems = _given(journal, "system")
    sessions = _given(journal, "session")
    offered = {name: schema for each in exchanges for name, schema in each.asked.tools.items()}
    if recording.spelling and not offered:
        offered = dict.fromkeys(scenario.tools)  # told of in the instructions
    calls = _calls(exchanges, journal, content)
    last = exchanges[-1].reply if exchanges else None
    facts: dict[str, Any] = {
        "framework": recording.framework,
        "instrumentation": recording.instrumentation,
        "versions": dict(versions),
        "user_inputs": list(scenario.users),
        "system_prompts": systems or None,
        "tools": [_tool(name, _properties(schema), calls, content) for name, schema in offered.items()],
        "tool_calls": calls,
        "final_answer": last.text if last and not last.calls and raised is None else None,
        "session_id": sessions[0] if sessions else None,
        "faults": [fault for fault in scenario.faults if fault != "bad_arguments" or _forbidden(calls, offered)],
    }
    if raised is not None:
        facts["raised"] = raised
    facts["not_recorded"] = {
        fact: recording.why.get(fact, _NOT_FOUND) for fact in _not_recorded(facts, offered, content)
    } | dict(recording.unconnected)
    return facts


def _given(journal: Journal, key: str) -> list[str]:
    return list(dict.fromkeys(entry[key] for entry in journal if key in entry))


def _tool(name: str, properties: list[str], calls: list[dict[str, Any]], content: Content) -> dict[str, Any]:
    """An offered tool. The name of one that was called says nothing of whether the offer is recorded."""
    tool: dict[str, Any] = {"name": name, "has_schema": bool(properties)}
    if properties and not content.has_schema(properties):
        called = any(call["name"] == name for call in calls)
        tool["not_recorded"] = ["tools", "schemas"] if called else ["schemas"]
    return tool


def _properties(schema: Any) -> list[str]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) else []


def _forbidden(calls: Sequence[Mapping[str, Any]], offered: Mapping[str, Any]) -> bool:
    """Whether a call has arguments that its tool's schema, as this framework offered it, doesn't allow."""
    return any(
        not isinstance(call["arguments"], dict)
        or not Draft202012Validator(offered.get(call["name"]) or {}).is_valid(call["arguments"])
        for call in calls
    )


def _calls(exchanges: Sequence[Exchange], journal: Journal, content: Content) -> list[dict[str, Any]]:
    """Every call that the model asked for, with what came of it."""
    executed = [entry for entry in journal if "called" in entry]
    replies = [exchange.reply for exchange in exchanges if exchange.reply]
    calls = []
    asked_for = [call for reply in replies for call in reply.calls]
    with_ids = {call.name for call in asked_for if content.has(call.call_id)}
    named = {call.name: content.times_named(call.name) for call in asked_for if call.name not in with_ids}
    for place, requested in enumerate(asked_for):
        shown = _shown(exchanges, requested, place)
        call: dict[str, Any] = {"name": requested.name, **_arguments(requested), **_outcome(requested, executed, shown)}
        seen = content.has(requested.call_id) or named.get(requested.name, 0) > 0
        named[requested.name] = named.get(requested.name, 0) - 1
        absent = _absent(call, content, seen=seen)
        calls.append(call | ({"not_recorded": absent} if absent else {}))
    return calls


def _arguments(requested: Requested) -> dict[str, Any]:
    try:
        return {"arguments": json.loads(requested.arguments)}
    except ValueError:
        return {"arguments": requested.arguments}


def _shown(exchanges: Sequence[Exchange], requested: Requested, place: int) -> str | None:
    """What the model was told about a call; where a protocol has no call ids, by the call's number."""
    for exchange in exchanges:
        for key in (requested.call_id, str(place)):
            if key in exchange.asked.results:
                return exchange.asked.results[key]
    return None


def _outcome(requested: Requested, executed: list[Mapping[str, Any]], shown: str | None) -> dict[str, Any]:
    """Result or error; `shown` is added where the model was told something else, or the tool never ran."""
    for entry in executed:
        if requested.name.endswith(entry["called"]) and entry["arguments"] == requested.values:
            executed.remove(entry)
            said = {"result": entry.get("result"), "error": entry.get("error")}
            text = entry.get("result") or entry["error"]
            known = shown is None or squash(text).strip("{}") in squash(shown)
            return said if known else {**said, "shown": shown}
    if requested.name.startswith(("transfer", "handoff", "ask")):
        return {"result": shown, "error": None}
    return {"result": None, "error": None} | ({"shown": shown} if shown is not None else {})


def _absent(call: Mapping[str, Any], content: Content, *, seen: bool) -> list[str]:
    """Which of a call's facts aren't in the bytes; `seen` tells whether its id or, lacking ids, its name is."""
    arguments = content.has_arguments(call["arguments"])
    if not (arguments or seen):
        return ["tool_calls", "arguments", "tool_results"]
    absent = [] if arguments else ["arguments"]
    said = [text for key in ("result", "error", "shown") if (text := call.get(key))]
    if said and not any(content.has(text) for text in said):
        absent.append("tool_results")
    if call["error"] and not any(content.has_failure(text) for text in said):
        absent.append("failure")
    return absent


def _not_recorded(facts: Mapping[str, Any], offered: Mapping[str, Any], content: Content) -> list[str]:
    """The facts that happened and of which nothing at all is in the bytes."""
    called = {call["name"] for call in facts["tool_calls"]}
    unused = [name for name in offered if name not in called]
    used = {each for name in called for each in _properties(offered.get(name))}
    schemas = [own for name in unused if (own := set(_properties(offered[name])) - used)]
    texts = {
        "user_input": facts["user_inputs"],
        "system_prompt": facts["system_prompts"] or [],
        "tools": unused,
        "final_answer": [facts["final_answer"]] if facts["final_answer"] else [],
        "session_id": [facts["session_id"]] if facts["session_id"] else [],
    }
    missing = [fact for fact, wanted in texts.items() if wanted and not any(content.has(text) for text in wanted)]
    if schemas and not any(content.has_schema(properties) for properties in schemas):
        missing.append("schemas")
    absent = [set(call.get("not_recorded", ())) for call in facts["tool_calls"]]
    of_all = set.intersection(*absent) if absent else set()
    return missing + [fact for fact in ("tool_calls", "arguments", "tool_results") if fact in of_all]
