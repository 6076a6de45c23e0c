"""A span as an object of JSON, in whatever words → a plain span.

Libraries and backends that save spans as JSON agree on what a span has, and hardly on how it is called.  Its fields are
found by their meaning: ids (`spanId`, `context.span_id`, `id`), times, durations, status, attributes, events, links,
resource, scope.  What tells of models and tools beside the attributes (a kind such as LLM or TOOL, input, output,
model, session) becomes the attribute that OpenInference has for it, unless the attributes say it themselves.
Everything else is kept under its own name.  No field is required but an id of the span and of its trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from collector.receivers.formats.attributes import restored
from collector.receivers.formats.fields import Keys, pairs_of, plain_key
from collector.receivers.formats.ids import Ids
from collector.receivers.formats.plain_span import ERROR, OK, UNSET, PlainEvent, PlainLink, PlainSpan
from collector.receivers.formats.shape import Fields, WrongPieceError
from collector.receivers.formats.span_meaning import KINDS_OF_WORK, kinds_of, meanings_of
from collector.receivers.formats.span_times import TIMES, times_of
from collector.receivers.formats.times import point_ns

TRACE_IDS = ("traceid", "rootspanid")
SPAN_IDS = ("spanid", "observationid", "runid", "id", "uuid", "guid")
PARENT_IDS = (
    *("parentspanid", "parentid", "parentobservationid", "parentrunid", "parentspan", "parent"),
    *("parentspancontext", "spanparents", "parents"),
)
NAMES = ("name", "spanname", "displayname", "operationname", "operation", "opname", "title", *KINDS_OF_WORK)
"""A span without a name of its own is called by its kind."""
CHILDREN = ("children", "childspans", "childruns", "subspans", "spans", "steps", "observations")
CONTEXTS = ("context", "spancontext")
SESSIONS = ("sessionid", "threadid", "conversationid")
_DETAILS = {"span_data": "type", "span_attributes": "name", "metrics": "start"}
"""Objects inside a span that hold some of its fields, each with the field by which it is known."""
_ATTRIBUTES = ("attributes", "spanattributes", "tags", "tagobjects")
_ROOTS_OF_CONVENTIONS = frozenset({"openinference", "gen_ai", "llm", "traceloop", "langfuse", "langsmith", "ai"})
"""Objects beside the attributes that are attributes taken apart."""
_MESSAGES = ("statusmessage", "statusdescription", "errormessage", "error", "exception")
_FAILED = frozenset({"ERROR", "FAILED", "FAILURE", "STATUSCODEERROR", "STATUSERROR"})
_OK = frozenset({"OK", "SUCCESS", "SUCCEEDED", "COMPLETED", "STATUSCODEOK"})


@dataclass(frozen=True, slots=True)
class Around:
    """What a span has from where it stands: the ids of its trace and of the span around it, session, resource."""

    trace_id: object = None
    parent_id: object = None
    session_id: object = None
    resource: Mapping[str, object] = field(default_factory=dict)
    scope_name: str = ""
    scope_version: str = ""


NOWHERE = Around()


def is_span_object(item: Fields) -> bool:
    """Whether an object has what only spans have together: a name, and ids or times that say so."""
    keys = Keys(_with_details(item))
    inner = Keys(keys.fields(*CONTEXTS))
    if keys.find(NAMES) is None or isinstance(keys.get(*NAMES), dict | list):
        return False
    in_trace = any(key in keys or key in inner for key in TRACE_IDS)
    has_id = any(key in keys or key in inner for key in SPAN_IDS)
    timed = keys.find(TIMES) is not None
    named = "spanid" in keys or "spanid" in inner
    tree = keys.find((*PARENT_IDS, *CHILDREN)) is not None
    return (has_id and in_trace and (named or timed or tree)) or (timed and (named or tree))


def read_span(item: object, ids: Ids, around: Around = NOWHERE) -> PlainSpan:
    """The span that an object tells of.

    Raises:
        WrongPieceError: it is no object, or has no ids.
    """
    if not isinstance(item, dict):
        raise WrongPieceError("it is no object")
    keys = Keys(_with_details(item))
    context = Keys(keys.fields(*CONTEXTS))
    keys.drop(*TRACE_IDS, *SPAN_IDS, *CHILDREN, *TIMES, "version", "object")
    parent = _id_in(keys.get(*PARENT_IDS))
    start_ns, end_ns, note = times_of(keys)
    if note:
        ids.findings.note(note)
    kind, work = kinds_of(keys)
    if type(keys.get("kind", "spankind")) is int:
        ids.findings.note("kinds of spans that are numbers were left out: they count from 0 in some, from 1 in others")
    status, message = _status(keys)
    resource, scope_name, scope_version = _origin(keys, around)
    trace_id = keys.get(*TRACE_IDS)
    span = PlainSpan(
        trace_id=ids.trace(next((one for one in (context.get(*TRACE_IDS), trace_id) if one), around.trace_id)),
        span_id=ids.span(context.get("spanid") or keys.get(*SPAN_IDS)),
        parent_id=ids.parent(parent or around.parent_id),
        name=keys.text(*NAMES),
        kind=kind,
        start_ns=start_ns,
        end_ns=end_ns,
        events=tuple(_events(keys.get("events", "logs"))),
        links=tuple(_links(keys.items("links"), ids)),
        status=status,
        status_message=message,
        resource=resource,
        scope_name=scope_name,
        scope_version=scope_version,
    )
    return replace(span, attributes=_attributes(keys, work, around))


def _with_details(item: Fields) -> Fields:
    """Some keep a span's name, kind and content, or its times, in an object of their own inside it."""
    outside = item
    for key, mark in _DETAILS.items():
        inner = item.get(key)
        if isinstance(inner, dict) and mark in inner:
            outside = inner | {name: value for name, value in outside.items() if name != key}
    return outside


def _attributes(keys: Keys, work: str | None, around: Around) -> Fields:
    beside = {key: value for key, value in keys.unused() if "." in key or key in _ROOTS_OF_CONVENTIONS}
    keys.drop(*map(plain_key, beside))
    attributes = restored(beside) | restored(pairs_of(keys.get(*_ATTRIBUTES)))
    told = meanings_of(keys, work, attributes)
    session = keys.get(*SESSIONS) or around.session_id
    if isinstance(session, str):
        told["session.id"] = session
    kept = {key: value for key, value in keys.unused() if not isinstance(value, dict | list) or value}
    return {**restored(kept), **told, **attributes}


def _status(keys: Keys) -> tuple[int, str]:
    given = keys.get("status", "statuscode", "level")
    inner = Keys(given) if isinstance(given, dict) else None
    code = inner.get("code", "statuscode") if inner is not None else given
    message = (inner.text("message", "description") if inner is not None else "") or _text(keys.get(*_MESSAGES))
    told = _code(keys.get("statuscode") if keys.get("statuscode") is not None else code)
    if told == UNSET and any(keys.get(key) for key in ("error", "exception", "iserror")):
        told = ERROR
    return told, message


def _code(value: object) -> int:
    if type(value) is int:
        return value if value in (UNSET, OK, ERROR) else UNSET
    word = value.upper().replace("_", "").removeprefix("STATUSCODE.") if isinstance(value, str) else ""
    return ERROR if word in _FAILED else OK if word in _OK else UNSET


def _text(value: object) -> str:
    if isinstance(value, dict):
        return Keys(value).text("message", "description", "text", "type")
    return value if isinstance(value, str) else ""


def _origin(keys: Keys, around: Around) -> tuple[Mapping[str, object], str, str]:
    given = keys.fields("resource", "resourceattributes")
    resource = given.get("attributes", given.get("_attributes", given))
    scope = keys.get("scope", "instrumentationscope", "instrumentationlibrary", "scopename", "otelscopename")
    version = keys.text("scopeversion", "otelscopeversion")
    name = keys.text("servicename", "service")
    found = restored(pairs_of(resource)) or around.resource
    if name and "service.name" not in found:
        found = {"service.name": name, **found}
    if isinstance(scope, dict):
        inner = Keys(scope)
        return found, inner.text("name"), inner.text("version")
    if isinstance(scope, str):
        return found, scope, version
    return found, around.scope_name, around.scope_version


def _events(events: object) -> Iterator[PlainEvent]:
    for one in events if isinstance(events, list) else ():
        if isinstance(one, dict):
            keys = Keys(one)
            yield PlainEvent(
                name=keys.text("name", "eventname", "event"),
                time_ns=point_ns(keys.get("timestamp", "time", "timeunixnano", "createdat")) or 0,
                attributes=restored(pairs_of(keys.get("attributes", "fields"))),
            )


def _links(links: list[object], ids: Ids) -> Iterator[PlainLink]:
    for one in links:
        keys = Keys(one) if isinstance(one, dict) else Keys({})
        context = Keys(keys.fields(*CONTEXTS))
        trace_id = context.get(*TRACE_IDS) or keys.get(*TRACE_IDS)
        span_id = context.get("spanid") or keys.get("spanid")
        link = ids.link(trace_id, span_id)
        if link is not None:
            yield PlainLink(trace_id=link[0], span_id=link[1], attributes=restored(pairs_of(keys.get("attributes"))))


def _id_in(parent: object) -> object:
    """The id in what names a parent: an id, an object with one, or a list whose first counts."""
    if isinstance(parent, list):
        parent = parent[0] if parent else None
    if isinstance(parent, dict):
        keys = Keys(parent)
        return keys.get("spanid", "id")
    return parent
