"""Taking the recording machine out of a recording: host names, processes, paths.

Requests in which there is nothing of it stay as they came, byte for byte; others are decoded, changed, encoded again.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from tests.recorder.sink import Received

_HOST = re.compile(r"(host|process|os)\.(?!arch$|type$|runtime\.)")


def neutral(request: Received, paths: Mapping[Path, str]) -> Received:
    """A request without values that name the host; `paths` gives the folders' neutral names."""
    rewrite = _rewriter(paths)
    if request.encoding == "json":
        document = json.loads(request.body)
        changed = _json(document, rewrite)
        return request if changed == document else replace(request, body=json.dumps(changed).encode())
    message = request.message()
    before = message.SerializeToString(deterministic=True)
    _message(message, rewrite)
    after = message.SerializeToString(deterministic=True)
    return request if after == before else replace(request, body=after)


def _rewriter(paths: Mapping[Path, str]) -> Callable[[str], str]:
    names = {str(path): name for path, name in paths.items()}
    host = socket.gethostname()
    if len(host) > 3:
        names[host] = "app-host"
    pattern = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)))
    return lambda text: pattern.sub(lambda match: names[match[0]], text)


def _message(message: Message, rewrite: Callable[[str], str]) -> None:
    if isinstance(message, KeyValue) and _HOST.match(message.key):
        message.value.string_value = "app"
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for each in value if field.is_repeated else (value,):
                _message(each, rewrite)
        elif field.type == FieldDescriptor.TYPE_STRING and not field.is_repeated:
            setattr(message, field.name, rewrite(value))


def _json(value: Any, rewrite: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, list):
        return [_json(each, rewrite) for each in value]
    if isinstance(value, dict):
        if isinstance(value.get("key"), str) and _HOST.match(value["key"]):
            return {**value, "value": {"stringValue": "app"}}
        return {key: _json(each, rewrite) for key, each in value.items()}
    return value
