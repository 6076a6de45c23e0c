"""What the bytes of a recording say, whatever the convention: the ground on which a fact counts as recorded.

In: the request bodies of a run. Out: every text in them, with quotes, escapes and white space taken out, so that a
fact is found however often it was encoded. No reader of the product is used.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict

from tests.recorder.sink import Received

_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_LINE_ENDS = re.compile(r"\\+[nrt]")
_DRESS = re.compile(r"[\s\"'\\]+")
_TELLING = 20
"""Characters from which on a text is not likely to stand somewhere by chance."""
_DEFINITION = re.compile(r"functions|definitions|tools?\.\d")


class Content:
    """The texts of a run's requests, to be searched."""

    def __init__(self, requests: Iterable[Received]) -> None:
        self._names: list[set[str]] = []
        texts: list[str] = []
        failed: list[str] = []
        for request in requests:
            document = _decoded(request)
            for record in _records(document):
                found = list(_texts(record, ""))
                names = {text for key, text in found if key in ("name", "value") and not _DEFINITION.search(text)}
                self._names.append(names)
                if record.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR"):
                    failed += [squash(text) for _, text in found]
            texts += [squash(text) for _, text in _texts(document, "")]
        self._haystack = "\0".join(texts)
        self._failed = "\0".join(failed)

    def has(self, text: str) -> bool:
        """Whether a text occurs, in its envelope or without; of a long one, its beginning."""
        return any(squash(each)[:200].strip("{}") in self._haystack for each in (text, *_enclosed(text)))

    def has_failure(self, text: str) -> bool:
        """Whether a text occurs on a span that ended in an error."""
        return squash(text)[:200] in self._failed

    def has_arguments(self, arguments: Mapping[str, Any] | str) -> bool:
        """Whether these arguments occur, in any order and any encoding."""
        if isinstance(arguments, str):
            return self.has(arguments)
        pairs = [squash(f"{key}: {value}") for key, value in arguments.items()]
        return any(",".join(order) in self._haystack for order in itertools.permutations(pairs))

    def times_named(self, name: str) -> int:
        """In how many spans and log records a tool's name occurs as, or in, a span's name or an attribute's value."""
        return sum(any(name in each for each in names if len(each) < len(name) + 100) for names in self._names)

    def has_schema(self, properties: Iterable[str]) -> bool:
        """Whether a schema with one of these properties occurs."""
        return any(re.search(rf"properties:\{{([^\0]{{0,300}},)?{each}:", self._haystack) for each in properties)


def squash(text: str) -> str:
    """A text without what encodings put on it."""
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    return _DRESS.sub("", _LINE_ENDS.sub("", text))


def _enclosed(text: str) -> list[str]:
    """What a JSON object of one field holds: some frameworks put one round what a tool said."""
    try:
        value = json.loads(text)
    except ValueError:
        return []
    if not isinstance(value, dict) or len(value) != 1:
        return []
    enclosed = [each if isinstance(each, str) else json.dumps(each) for each in value.values()]
    return [each for each in enclosed if len(each) >= _TELLING]


def _decoded(request: Received) -> Any:
    if request.encoding == "json":
        return json.loads(request.body)
    return MessageToDict(request.message())


def _records(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The spans and log records of a request."""
    for resource in document.get("resourceSpans", []):
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]
    for resource in document.get("resourceLogs", []):
        for scope in resource["scopeLogs"]:
            yield from scope["logRecords"]


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Strings under the key that holds them; an attribute's is `value`, a structured value is one JSON text."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, key)
    elif isinstance(value, dict):
        if "stringValue" in value:
            yield "value", value["stringValue"]
        elif {"kvlistValue", "arrayValue"} & value.keys():
            yield "structure", json.dumps(_plain(value), ensure_ascii=False)
        else:
            attribute = value.get("key")
            if isinstance(attribute, str) and _DEFINITION.search(attribute):
                key = "definition"
            for name, each in value.items():
                yield from (("definition" if key == "definition" else at, text) for at, text in _texts(each, name))


def _plain(value: dict[str, Any]) -> Any:
    if "kvlistValue" in value:
        return {pair["key"]: _plain(pair.get("value", {})) for pair in value["kvlistValue"].get("values", [])}
    if "arrayValue" in value:
        return [_plain(each) for each in value["arrayValue"].get("values", [])]
    if "intValue" in value:
        return int(value["intValue"])
    return next(iter(value.values()), None)
