"""What an object says of models, tools and agents beside its attributes → OpenInference's attributes for it.

A kind of work (`type: llm`, `run_type: tool` …), what went in and came out, the model, tools on offer, names and ids:
found by the meaning of their keys, and only told where the span's attributes follow no other convention.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collector.receivers.formats.fields import Keys
from collector.receivers.formats.plain_span import KINDS, json_of
from collector.receivers.formats.shape import Fields

KINDS_OF_WORK = ("kind", "spankind", "type", "spantype", "runtype", "observationtype")
_INPUTS = (
    *("input", "inputs", "inputvalue", "inputmessages", "messages", "prompt"),
    *("arguments", "args", "parameters", "toolinput"),
)
_OUTPUTS = ("output", "outputs", "outputvalue", "outputmessages", "completion", "response", "result", "tooloutput")
_TOOLS = ("tools", "availabletools", "tooldefinitions")
_TEXTS = {
    "llm.model_name": ("model", "modelname", "modelid", "providedmodelname"),
    "tool.name": ("toolname",),
    "tool_call.id": ("toolcallid", "callid"),
    "agent.name": ("agentname",),
}
_SPAN_KIND = "openinference.span.kind"
_STEP = "CHAIN"  # what takes and gives content, and doesn't say what kind of work it is
_OPENINFERENCE = ("openinference.", "llm.", "tool.", "input.", "output.")
_OTHER_CONVENTIONS = ("gen_ai.", "traceloop.", "ai.operationId", "langfuse.", "langsmith.", "mlflow.span")
_WORK = {
    "LLM": "LLM",
    "GENERATION": "LLM",
    "CHATMODEL": "LLM",
    "CHATCOMPLETION": "LLM",
    "TOOL": "TOOL",
    "FUNCTION": "TOOL",
    "TOOLCALL": "TOOL",
    "AGENT": "AGENT",
    "CHAIN": "CHAIN",
    "WORKFLOW": "CHAIN",
    "TASK": "CHAIN",
    "RETRIEVER": "RETRIEVER",
    "RETRIEVAL": "RETRIEVER",
    "EMBEDDING": "EMBEDDING",
    "EMBEDDINGS": "EMBEDDING",
    "RERANKER": "RERANKER",
    "GUARDRAIL": "GUARDRAIL",
    "EVALUATOR": "EVALUATOR",
}


def kinds_of(keys: Keys) -> tuple[int, str | None]:
    """OTLP's kind of span, and OpenInference's kind of work; words of both stand under the same keys."""
    kind = 0
    work = None
    for key in KINDS_OF_WORK:
        value = keys.get(key)
        if isinstance(value, str):
            word = value.upper().removeprefix("SPANKIND.").removeprefix("SPAN_KIND_")
            kind = kind or KINDS.get(word, 0)
            work = work or _WORK.get(word.replace("_", "").replace(" ", ""))
    return kind, work


def meanings_of(keys: Keys, work: str | None, attributes: Mapping[str, object]) -> Fields:
    """Attributes for what the object says. What it is looked up in counts as used, told or not."""
    given, answered, offered = keys.get(*_INPUTS), keys.get(*_OUTPUTS), keys.get(*_TOOLS)
    texts = {name: keys.text(*plain) for name, plain in _TEXTS.items()}
    known = any(key.startswith(_OTHER_CONVENTIONS) for key in attributes)
    told: Fields = {}
    if not known:
        told |= dict(_content("input", given)) | dict(_content("output", answered)) | dict(_tools(offered))
        told |= {name: text for name, text in texts.items() if text}
    if work is None and not known and (given is not None or answered is not None):
        work = _STEP
    if work is not None and _says_no_other_kind(attributes, known):
        told[_SPAN_KIND] = work
    return told


def _says_no_other_kind(attributes: Mapping[str, object], known: bool) -> bool:
    """Backends add a kind to spans of other conventions too, and count making an agent as its work."""
    if attributes.get("gen_ai.operation.name") == "create_agent":
        return False
    return not known or any(key.startswith(_OPENINFERENCE) for key in attributes)


def _content(side: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and "value" in value and value.keys() <= {"value", "mime_type"}:
        value = value["value"]
    if isinstance(value, str):
        yield f"{side}.value", value
    elif value is not None:
        yield f"{side}.value", json_of(value)
        yield f"{side}.mime_type", "application/json"


def _tools(offered: object) -> Iterator[tuple[str, object]]:
    for place, tool in enumerate(offered if isinstance(offered, list) else ()):
        if isinstance(tool, dict):
            yield f"llm.tools.{place}.tool.json_schema", json_of(tool)
