"""Python reprs of objects (`ChatMessage(role=..., blocks=[...])`), which some instrumentations write in place of data.

An object becomes a plain object of its keyword arguments.  The text is parsed, never evaluated.
"""

from __future__ import annotations

import ast
import re

from evaluators.cases import JsonValue
from processors.conventions.values import MAX_LITERAL_CHARS, clean

_OBJECT = re.compile(r"[A-Za-z_]\w*\(.*\)\s*$", re.DOTALL)
_ENUM = re.compile(r"<[\w.]+: ('[^'\n]*'|\"[^\"\n]*\"|-?\d+)>")
_OPAQUE = re.compile(r"<[\w.]+(?: object)? at 0x[0-9a-f]+>")


def from_repr(text: str) -> dict[str, JsonValue] | None:
    """The keyword arguments in the repr of an object; None when the text is none, or is too long to be looked at."""
    if len(text) > MAX_LITERAL_CHARS or _OBJECT.match(text) is None:
        return None
    try:
        tree = ast.parse(_OPAQUE.sub("None", _ENUM.sub(r"\1", text)).strip(), mode="eval").body
        return _keywords(tree) if isinstance(tree, ast.Call) and tree.keywords and not tree.args else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _keywords(call: ast.Call) -> dict[str, JsonValue]:
    return {keyword.arg: _value(keyword.value) for keyword in call.keywords if keyword.arg is not None}


def _value(node: ast.expr) -> JsonValue:
    if isinstance(node, ast.Call):
        return _keywords(node)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {
            str(clean(ast.literal_eval(key))): _value(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    return clean(ast.literal_eval(node))
