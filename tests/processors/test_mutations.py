"""Recorded runs with something taken away or changed: nothing is invented, and no run without a fault is given one."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from collector.commands.replay import judge_traces
from collector.judging.setup import Plan, build
from collector.records import SpanRecord
from collector.saved_traces import SavedTrace, SavedTraces
from processors.reading.signatures import name_key
from processors.transcript_json import offered_tools
from tests.processors.ordinary import ordinary_settings
from tests.processors.recorded_runs import facts_of, recorded_runs, saved, transcripts_of

_SEED = 3
_ONE_IN = 8


def _is_taken(run: Path) -> bool:
    """Whether a run is in the sample: by its own name, so that more recordings don't change what is looked at."""
    return crc32(f"{run.parent.name}/{run.name}".encode()) % _ONE_IN == 0


_RUNS = [run for run in recorded_runs() if _is_taken(run)]
_UNSAID = "Nobody said this."
_OUTPUTS = re.compile(r"output|completion|result|response\.(text|toolCalls)")
_DEFINITIONS = re.compile(r"definitions|functions|\.tools|tools\.")

Change = Callable[[list[SpanMessage], random.Random], list[SpanMessage]]


def _cut(length: int) -> Change:
    def changed(spans: list[SpanMessage], _: random.Random) -> list[SpanMessage]:
        for span in spans:
            for attributes in (span.attributes, *(event.attributes for event in span.events)):
                for attribute in attributes:
                    _cut_value(attribute.value, length)
        return spans

    return changed


def _cut_value(value: AnyValue, length: int) -> None:
    if value.HasField("string_value"):
        value.string_value = value.string_value[:length]
    for item in value.array_value.values if value.HasField("array_value") else ():
        _cut_value(item, length)


def _without(keys: re.Pattern[str]) -> Change:
    def changed(spans: list[SpanMessage], _: random.Random) -> list[SpanMessage]:
        for span in spans:
            kept = [attribute for attribute in span.attributes if keys.search(attribute.key) is None]
            del span.attributes[:]
            span.attributes.extend(kept)
        return spans

    return changed


def _without_one(spans: list[SpanMessage], chance: random.Random) -> list[SpanMessage]:
    lost = chance.choice(spans)
    return [span for span in spans if span is not lost]


def _without_some(share: float) -> Change:
    def changed(spans: list[SpanMessage], chance: random.Random) -> list[SpanMessage]:
        return [span for span in spans if chance.random() >= share] or spans

    return changed


def _without_root(spans: list[SpanMessage], _: random.Random) -> list[SpanMessage]:
    return [span for span in spans if span.parent_span_id]


def _first_attributes(most: int) -> Change:
    def changed(spans: list[SpanMessage], _: random.Random) -> list[SpanMessage]:
        for span in spans:
            span.dropped_attributes_count = max(0, len(span.attributes) - most)
            del span.attributes[most:]
        return spans

    return changed


def _at_one_moment(spans: list[SpanMessage], _: random.Random) -> list[SpanMessage]:
    for span in spans:
        span.start_time_unix_nano = span.end_time_unix_nano = 1_700_000_000_000_000_000
    return spans


def _with_unknown_keys(spans: list[SpanMessage], _: random.Random) -> list[SpanMessage]:
    for span in spans:
        span.attributes.add(
            key="app.messages"
        ).value.string_value = '[{"role": "user", "content": "Nobody said this."}]'
    return spans


CHANGES: dict[str, Change] = {
    "cut at 128": _cut(128),
    "cut at 256": _cut(256),
    "cut at 1024": _cut(1024),
    "without outputs": _without(_OUTPUTS),
    "without definitions": _without(_DEFINITIONS),
    "without a span": _without_one,
    "without a fifth of the spans": _without_some(0.2),
    "without its root": _without_root,
    "with 8 attributes": _first_attributes(8),
    "with 32 attributes": _first_attributes(32),
    "sent twice": lambda spans, _: [*spans, *spans],
    "shuffled": lambda spans, chance: chance.sample(spans, len(spans)),
    "at one moment": _at_one_moment,
    "with unknown keys": _with_unknown_keys,
}


@dataclass(frozen=True)
class Found:
    """What was read and judged of a recording.

    `calls` is how often a tool was called in one run; `texts` are all words that anybody said or was told.
    """

    calls: Counter[str] = field(default_factory=Counter)
    texts: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    faults: frozenset[str] = frozenset()


def _found(telemetry: SavedTraces) -> Found:
    transcripts = transcripts_of(telemetry)
    runs = [run for transcript in transcripts for run in transcript.runs]
    calls: Counter[str] = Counter()
    for run in runs:
        calls |= Counter(name_key(call.name) for call in run.calls if not call.is_handoff)
    texts = {text for run in runs for text in (*(run.user_inputs or ()), run.final_answer) if text}
    texts |= {turn.text for run in runs for turn in run.turns if turn.text}
    texts |= {message.text for run in runs for turn in run.turns for message in turn.context or () if message.text}
    results = [call.result for run in runs for call in run.calls if call.result is not None]
    texts |= {text for result in results for text in (result.content, result.error) if text}
    return Found(calls, frozenset(texts), frozenset(tool.name for tool in offered_tools(runs)), _faults(telemetry))


def _faults(telemetry: SavedTraces) -> frozenset[str]:
    judge, _ = build(Plan(evaluators=ordinary_settings()))

    async def codes() -> set[str]:
        found: set[str] = set()
        async for scores in judge_traces(judge, telemetry.traces):
            assert scores.failure is None
            verdicts = [placed.verdict for placed in scores.verdicts if placed.verdict.passed is False]
            found |= {str(issue.code) for verdict in verdicts for issue in verdict.issues if issue.conclusive}
        return found

    return frozenset(asyncio.run(codes()))


def _changed(telemetry: SavedTraces, change: Change, chance: random.Random) -> SavedTraces:
    return SavedTraces(
        traces=[
            SavedTrace(trace.trace_id, list(_respanned(trace, change, chance)), trace.logs)
            for trace in telemetry.traces
        ]
    )


def _respanned(trace: SavedTrace, change: Change, chance: random.Random) -> Iterator[SpanRecord]:
    messages = [SpanMessage.FromString(record.span) for record in trace.spans]
    origins = {message.span_id: record for message, record in zip(messages, trace.spans, strict=True)}
    for message in change(messages, chance):
        yield origins[message.span_id]._replace(span=message.SerializeToString())


@pytest.mark.parametrize("run", _RUNS, ids=lambda run: f"{run.parent.name}/{run.name}")
def test_what_is_taken_from_a_run_or_added_to_it_makes_nothing_up(run: Path) -> None:
    telemetry, facts = saved(run), facts_of(run)
    whole = _found(telemetry)
    names = {tool["name"] for tool in facts["tools"]} | whole.tools
    faults = whole.faults | _same_kind(whole.faults) | set(facts["faults"])
    for name, change in CHANGES.items():
        chance = random.Random(f"{_SEED} {run.name} {name}")
        found = _found(_changed(telemetry, change, chance))
        assert found.faults <= faults, name
        assert found.tools <= names, name
        assert found.calls <= whole.calls, name
        assert not any(_UNSAID in text for text in found.texts), name


def _same_kind(faults: frozenset[str]) -> set[str]:
    """What an argument's fault may be called where the error's text, the schema or the arguments aren't whole."""
    kinds = {"wrong_value", "wrong_type", "not_in_enum", "bad_format", "missing_argument", "unexpected_argument"}
    return kinds if (kinds | {"invalid_json"}) & faults else set()
