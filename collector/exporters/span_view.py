"""What the console shows of a span, read out of a serialised trace request.

In goes an ExportTraceServiceRequest as bytes, out come `SpanView`s: ids, times, a name, a kind and the scores.  Text
is cleaned on the way in, so that nothing in a view can move a cursor, change a colour or forge a line.

It never reads what agents said: of the attributes only the span's kind and the `eval.*` keys are looked at.  Strings
are declared as bytes and nested values are not descended into, so that one invalid byte or one deep value in a span
doesn't hide the others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

NAME_CHARS = 80
EXPLANATION_CHARS = 600
MAX_CODES = 8
MAX_SCORES = 32

ANSI_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]")
KIND_KEYS = (b"openinference.span.kind", b"gen_ai.operation.name", b"traceloop.span.kind")
KINDS = {
    "llm": "llm",
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "tool": "tool",
    "execute_tool": "tool",
    "agent": "agent",
    "invoke_agent": "agent",
    "workflow": "agent",
    "invoke_workflow": "agent",
    "chain": "chain",
    "task": "chain",
    "evaluator": "evaluator",
    "evaluation": "evaluator",
}
REMOTE_PARENT_KNOWN = 0x100
REMOTE_PARENT = 0x200
STATUS_ERROR = 2


class UnreadableRequestError(Exception):
    """The bytes are no trace request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one evaluator wrote on a span (`eval.<evaluator>.*`). Fields that were not written are None or empty.

    `supersedes` is the id of the evaluation span whose verdict this one replaces.
    """

    evaluator: str
    label: str | None = None
    score: float | None = None
    passed: bool | None = None
    status: str | None = None
    explanation: str = ""
    codes: tuple[str, ...] = ()
    method: str | None = None
    model: str | None = None
    confidence: float | None = None
    supersedes: str | None = None
    uncalibrated: bool = False

    @property
    def unscored(self) -> bool:
        """Whether it only says that there is no score."""
        return self.score is None and self.passed is None and self.label in (None, "unscored")

    @property
    def failed(self) -> bool:
        """Whether it says that something is wrong, by a rule or a judge that is known to agree with people."""
        return self.passed is False and not self.uncalibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanView:
    """One span as the console sees it.

    `kind` is "llm", "tool", "agent", "chain", "evaluator" or empty.  `parent_id` is empty for a root; `remote_parent`
    says that the parent is in another process.
    """

    trace_id: str
    span_id: str
    parent_id: str
    remote_parent: bool
    name: str
    kind: str
    service: str
    start_ns: int
    end_ns: int
    error: bool
    scores: tuple[Score, ...] = ()

    @property
    def weight(self) -> int:
        """How much memory it takes, in units of about a kilobyte."""
        return 1 + len(self.scores)

    @property
    def duration_s(self) -> float | None:
        """Seconds from start to end; None when the clocks say something impossible."""
        return (self.end_ns - self.start_ns) / 1e9 if 0 < self.start_ns <= self.end_ns else None


def clean(text: str, limit: int) -> str:
    """`text` on one line, without control and direction-changing characters, at most `limit` characters long."""
    plain = ANSI_SEQUENCE.sub("", text[: limit * 4])
    kept = "".join(" " if char.isspace() else char for char in plain if char.isspace() or _is_printable(char))
    line = " ".join(kept.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _is_printable(char: str) -> bool:
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def read_spans(request: bytes) -> list[SpanView]:
    """The spans of a serialised ExportTraceServiceRequest, in its order.

    Raises:
        UnreadableRequestError: it isn't one.
    """
    try:
        parsed = _REQUEST.FromString(request)
    except message.DecodeError as error:
        raise UnreadableRequestError("these bytes are no OTLP trace request") from error
    return list(_views(parsed))


def _views(parsed: Any) -> Iterator[SpanView]:
    for of_resource in parsed.resource_spans:
        service = next(
            (pair.value.string for pair in of_resource.resource.attributes if pair.key == b"service.name"), b""
        )
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                yield _view(span, clean(_text(service), NAME_CHARS))


def _view(span: Any, service: str) -> SpanView:
    fields: dict[str, dict[str, Any]] = {}
    kind = ""
    for pair in span.attributes:
        key = pair.key
        if key.startswith(b"eval."):
            _, _, rest = _text(key).partition(".")
            evaluator, _, field = rest.partition(".")
            if field and "." not in field:
                fields.setdefault(clean(evaluator, NAME_CHARS), {})[field] = pair.value
        elif not kind and key in KIND_KEYS:
            kind = KINDS.get(_text(pair.value.string).lower(), "")
    parent_id = span.parent_span_id.hex()
    return SpanView(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=parent_id,
        remote_parent=bool(parent_id and span.flags & REMOTE_PARENT_KNOWN and span.flags & REMOTE_PARENT),
        name=clean(_text(span.name), NAME_CHARS) or "(no name)",
        kind=kind,
        service=service,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        error=span.status.code == STATUS_ERROR,
        scores=tuple(
            score
            for evaluator, values in sorted(fields.items())[:MAX_SCORES]
            if (score := _score(evaluator, values)).label is not None or score.score is not None or score.status
        ),
    )


def _score(evaluator: str, values: dict[str, Any]) -> Score:
    def words(field: str, limit: int = NAME_CHARS) -> str | None:
        value = values.get(field)
        return clean(_text(value.string), limit) if value is not None and value.HasField("string") else None

    def number(field: str) -> float | None:
        value = values.get(field)
        if value is None:
            return None
        if value.HasField("double"):
            return float(value.double)
        return float(value.int) if value.HasField("int") else None

    def truth(field: str) -> bool | None:
        value = values.get(field)
        return bool(value.bool) if value is not None and value.HasField("bool") else None

    codes = [_text(item.string) for item in values["issues"].array.values] if "issues" in values else []
    worst = words("issue")
    ordered = dict.fromkeys([worst, *codes] if worst else codes)
    return Score(
        evaluator=evaluator,
        label=words("label"),
        score=number("score"),
        passed=truth("passed"),
        status=words("status"),
        explanation=words("explanation", EXPLANATION_CHARS) or "",
        codes=tuple(clean(code, NAME_CHARS) for code in list(ordered)[:MAX_CODES]),
        method=words("method"),
        model=words("model"),
        confidence=number("confidence"),
        supersedes=words("supersedes"),
        uncalibrated=truth("uncalibrated") is True,
    )


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bytes": _FIELD.TYPE_BYTES,
    "fixed64": _FIELD.TYPE_FIXED64,
    "fixed32": _FIELD.TYPE_FIXED32,
    "int32": _FIELD.TYPE_INT32,
    "int64": _FIELD.TYPE_INT64,
    "bool": _FIELD.TYPE_BOOL,
    "double": _FIELD.TYPE_DOUBLE,
}
# The few fields that are shown, with the numbers of opentelemetry/proto/trace/v1/trace.proto; "*" is repeated.
_SCHEMA = {
    "Request": {"resource_spans": (1, "ResourceSpans*")},
    "ResourceSpans": {"resource": (1, "Resource"), "scope_spans": (2, "ScopeSpans*")},
    "Resource": {"attributes": (1, "KeyValue*")},
    "ScopeSpans": {"spans": (2, "Span*")},
    "Span": {
        "trace_id": (1, "bytes"),
        "span_id": (2, "bytes"),
        "parent_span_id": (4, "bytes"),
        "name": (5, "bytes"),
        "start_time_unix_nano": (7, "fixed64"),
        "end_time_unix_nano": (8, "fixed64"),
        "attributes": (9, "KeyValue*"),
        "status": (15, "Status"),
        "flags": (16, "fixed32"),
    },
    "Status": {"code": (3, "int32")},
    "KeyValue": {"key": (1, "bytes"), "value": (2, "Value")},
    "Value": {
        "string": (1, "bytes"),
        "bool": (2, "bool"),
        "int": (3, "int64"),
        "double": (4, "double"),
        "array": (5, "Array"),
    },
    "Array": {"values": (1, "Item*")},
    "Item": {"string": (1, "bytes")},
}


def _build_request_class() -> Any:
    package = "spanjudge.console"
    file = descriptor_pb2.FileDescriptorProto(name="spanjudge/console.proto", package=package, syntax="proto2")
    for name, fields in _SCHEMA.items():
        described = file.message_type.add(name=name)
        for field_name, (number, declared) in fields.items():
            type_name = declared.rstrip("*")
            field = described.field.add(name=field_name, number=number)
            field.label = _FIELD.LABEL_REPEATED if declared.endswith("*") else _FIELD.LABEL_OPTIONAL
            if type_name in _SCALARS:
                field.type = _SCALARS[type_name]
            else:
                field.type, field.type_name = _FIELD.TYPE_MESSAGE, f".{package}.{type_name}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.Request"))


_REQUEST = _build_request_class()
