"""Recorded runs beside what was read of them: where the two differ, in words."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from collector.commands.transcript import read
from collector.saved_traces import SavedTraces, read_saved_traces
from evaluators.cases import Role, Tool, ToolCall
from processors.reading.absent import SYSTEM_PROMPT, USER_INPUT
from processors.transcript import Transcript
from processors.transcript_json import offered_tools

RECORDED = Path(__file__).parents[1] / "recorded"
_NEVER_REPORTED = {"session_id"}
_ANSWERING = {"final_answer", "final_result", "finish"}
"""Calls by which some frameworks have the model give its answer."""


def recorded_runs() -> list[Path]:
    """The folders of all recorded runs."""
    return sorted(facts.parent for facts in RECORDED.glob("*/*/facts.json"))


def runs_of_each_dialect() -> list[Path]:
    """One recorded run of each dialect, with a call that fails and is made again where there is one."""
    chosen: dict[Path, Path] = {}
    for run in sorted(recorded_runs(), key=lambda run: (run.name != "retry", run)):
        chosen.setdefault(run.parent, run)
    return sorted(chosen.values())


def facts_of(run: Path) -> dict[str, Any]:
    """What really happened."""
    facts: dict[str, Any] = json.loads((run / "facts.json").read_text(encoding="utf-8"))
    return facts


def saved(run: Path) -> SavedTraces:
    """The run's telemetry."""
    return read_saved_traces(sorted([*run.glob("*-traces.*"), *run.glob("*-logs.*")]))


def differences(facts: dict[str, Any], transcripts: Sequence[Transcript]) -> list[str]:
    """Every recorded fact that wasn't read, everything read that didn't happen, and every unreported absence."""
    runs = [run for transcript in transcripts for run in transcript.runs]
    absent = set(facts["not_recorded"])
    calls = _distinct_calls(transcripts)
    return [
        *_users(facts, absent, [_folded(text) for run in runs for text in run.user_inputs or ()]),
        *_systems(facts, absent, [_folded(text) for run in runs for text in run.system_prompts]),
        *_tools(facts, absent, offered_tools(runs)),
        *_calls(facts, calls, _told(transcripts)),
        *_answer(facts, absent, [run.final_answer for run in runs if run.final_answer is not None]),
        *_session(facts, absent, {transcript.session_id for transcript in transcripts} - {None}),
        *_unreported(absent, {missing.fact for transcript in transcripts for missing in transcript.missing}),
    ]


def transcripts_of(telemetry: SavedTraces) -> list[Transcript]:
    """What was understood, trace by trace."""
    return [read(trace) for trace in telemetry.traces]


def _users(facts: dict[str, Any], absent: set[str], read_texts: list[str]) -> Iterator[str]:
    said = [_folded(text) for text in facts["user_inputs"]]
    among_agents = {_folded(str(value)) for call in facts["tool_calls"] for value in _values(call["arguments"])}
    unread = set(said) - {text for text in said for found in read_texts if text in found}
    if "user_input" not in absent:
        yield from (f"user input not read: {text}" for text in unread)
    for found in dict.fromkeys(read_texts):
        if found not in among_agents and not any(text in found and len(found) < len(text) + 200 for text in said):
            yield f"the user never said: {found[:200]}"


def _systems(facts: dict[str, Any], absent: set[str], read_texts: list[str]) -> Iterator[str]:
    for text in facts["system_prompts"] or ():
        if "system_prompt" not in absent and not any(_folded(text) in found for found in read_texts):
            yield f"system prompt not read: {text}"


def _tools(facts: dict[str, Any], absent: set[str], tools: list[Tool]) -> Iterator[str]:
    untold = {_key(tool["name"]) for tool in facts["tools"] if "tools" in tool.get("not_recorded", ())}
    read_tools = {_key(tool.name): tool for tool in tools}
    offered = {
        _key(tool["name"]): tool["has_schema"] and "schemas" not in tool.get("not_recorded", ())
        for tool in facts["tools"]
    }
    for name, has_schema in offered.items():
        if name not in read_tools:
            if "tools" not in absent and name not in untold:
                yield f"tool not read: {name}"
        elif has_schema and "schemas" not in absent and not (read_tools[name].parameters or {}).get("properties"):
            yield f"schema not read: {name}"
    yield from (f"tool never offered: {name}" for name in read_tools.keys() - offered.keys() - _ANSWERING)


def _told(transcripts: Sequence[Transcript]) -> dict[str | None, str]:
    """Call id → result as a later request told the model: for calls whose own trace ended with asking for them."""
    return {
        message.call_id: message.text
        for transcript in transcripts
        for run in transcript.runs
        for turn in run.turns
        for message in turn.context or ()
        if message.role is Role.TOOL and message.text
    }


def _calls(facts: dict[str, Any], calls: list[ToolCall], told: dict[str | None, str]) -> Iterator[str]:
    left = list(calls)
    for wanted in facts["tool_calls"]:
        absent = wanted.get("not_recorded", ())
        if "tool_calls" in absent:
            continue
        call = next((call for call in left if _same(call, wanted, exactly="arguments" not in absent)), None)
        if call is None:
            yield f"call not read: {wanted['name']}({json.dumps(wanted['arguments'])})"
            continue
        left.remove(call)
        yield from _outcome(wanted, absent, call, told.get(call.id))
    yield from (f"call that never was: {call.name}({call.arguments})" for call in left if call.name not in _ANSWERING)


def _same(call: ToolCall, wanted: dict[str, Any], *, exactly: bool) -> bool:
    return _key(call.name) == _key(wanted["name"]) and (
        call.arguments is None if not exactly else _plain(call.arguments or {}) == _plain(wanted["arguments"])
    )


def _outcome(wanted: dict[str, Any], absent: Sequence[str], call: ToolCall, told: str | None) -> Iterator[str]:
    texts = [text for key in ("result", "error", "shown") if (text := wanted.get(key))]
    found = [text for text in (call.result.content, call.result.error) if text] if call.result else [told or ""]
    if "tool_results" in absent or not texts:
        return
    if not any(_tells(one, text) for text in texts for one in found):
        yield f"outcome of {wanted['name']} not read: {texts[0]}; instead: {found}"
    elif wanted["error"] and "failure" not in absent and not (call.result and call.result.failed):
        yield f"error of {wanted['name']} read as a result: {texts[0]}"


def _tells(found: str, text: str) -> bool:
    """Whether what was read is the text, or the text is an envelope round what was read."""
    return _squashed(text)[:200] in _squashed(found) or (
        text.startswith("{") and found != "" and _squashed(found) in _squashed(text)
    )


def _answer(facts: dict[str, Any], absent: set[str], read_answers: list[str]) -> Iterator[str]:
    wanted = facts["final_answer"]
    if wanted is not None and "final_answer" not in absent and _folded(wanted) not in map(_folded, read_answers):
        yield f"final answer not read: {wanted}; instead: {read_answers}"
    if read_answers and (wanted is None or "final_answer" in absent):
        yield f"nothing was answered: {read_answers}"


def _session(facts: dict[str, Any], absent: set[str], sessions: set[str | None]) -> Iterator[str]:
    wanted = facts["session_id"]
    if wanted is not None and "session_id" not in absent and sessions != {wanted}:
        yield f"session not read: {wanted}; instead: {sorted(map(str, sessions))}"


def _unreported(absent: set[str], reported: set[str]) -> Iterator[str]:
    wanted = absent - _NEVER_REPORTED
    if USER_INPUT not in absent:
        wanted.discard(SYSTEM_PROMPT)  # a conversation without one looks the same
    if "tools" in wanted:
        wanted.discard("schemas")
    if "tool_calls" in wanted:
        wanted -= {"arguments", "tool_results"}
    yield from (f"not reported as missing: {fact}" for fact in sorted(wanted - reported))


def _distinct_calls(transcripts: Sequence[Transcript]) -> list[ToolCall]:
    """The calls of a run that may be spread over traces, each of which repeats those before it as history."""
    by_content: dict[object, list[list[ToolCall]]] = defaultdict(list)
    for transcript in transcripts:
        here: dict[object, list[ToolCall]] = defaultdict(list)
        for run in transcript.runs:
            for call in run.calls:
                here[_key(call.name), _plain(call.arguments)].append(call)
        for key, calls in here.items():
            by_content[key].append(calls)
    distinct: list[ToolCall] = []
    for lists in by_content.values():
        times = max(len(calls) for calls in lists)
        pool = sorted((call for calls in lists for call in calls), key=lambda call: call.result is None)
        known: set[str] = set()
        once = [call for call in pool if not (call.id in known or known.add(call.id))]  # type: ignore[func-returns-value]
        distinct += once[: max(times, len({call.id for call in pool if call.from_model and not call.earlier}))]
    return distinct


def _values(arguments: Any) -> list[Any]:
    return list(arguments.values()) if isinstance(arguments, dict) else []


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _plain(value: Any) -> str:
    return _folded(value) if isinstance(value, str) else json.dumps(value, sort_keys=True, default=dict)


def _squashed(text: str) -> str:
    """A text without quotes, escapes and white space: the same content whatever its encoding."""
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(text)
        except (ValueError, SyntaxError):
            continue
        if not isinstance(value, str):
            text = json.dumps(value, ensure_ascii=False)
            break
    return re.sub(r"\\+[nrt]|[\s\"'\\]+", "", text)
