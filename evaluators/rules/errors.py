"""Whether a call failed, and whether doing the same again could help.

In goes a result, out comes the error in it and its class.  An error is known by its structure: the call raised, or the
returned object says so in a field made for it (`error`, `exception`, `isError`, `success`, `status`).  Words in a text
never make an error; they only tell the class of one that is known by structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from evaluators.cases import JsonValue, ToolResult
from evaluators.rules.reading import reading_of

_MAX_TEXT_CHARS = 4_000


class ErrorClass(StrEnum):
    """What an error says about trying again with the same arguments."""

    PERMANENT = "permanent"
    TRANSIENT = "transient"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class ToolError:
    """A failed call: what it said and its class.

    `certain` is False when the failure is only written at the start of a plain text, unless that is how an exception is
    passed on: the word error and the name of its class.
    """

    text: str
    kind: ErrorClass
    certain: bool = True


def error_of(result: ToolResult | None) -> ToolError | None:
    """The error that a call ended in; None when it succeeded or its result isn't known."""
    if result is None:
        return None
    if result.error is not None:
        said = _said(result.error.strip(), result.content or "")
        return ToolError(said, classify(said))
    if not result.content:
        return None
    value = reading_of(result.content).value
    if isinstance(value, dict):
        said_by = _error_in(value)
        return None if said_by is None else ToolError(said_by, classify(said_by))
    if value is None and (opening := _PREFIX.match(result.content)) is not None:
        raised = _RAISED.match(result.content) is not None
        return ToolError(result.content, classify(result.content[opening.end() :]), certain=raised)
    return None


def classify(text: str) -> ErrorClass:
    """The class that an error's own words give it; whatever could pass on its own is never called permanent."""
    said = _PLEASE_AGAIN.sub(" ", text[:_MAX_TEXT_CHARS]).lower()
    if _TRANSIENT.search(said) or _NOT_YET.search(said):
        return ErrorClass.TRANSIENT
    if _PERMANENT.search(said) and not _NOT_THE_CALL.search(said):
        return ErrorClass.PERMANENT
    return ErrorClass.OPAQUE


def _said(error: str, content: str) -> str:
    """What a failed call said: the error's text, with what an error object in its content adds to it."""
    if not error:
        return content
    value = reading_of(content).value
    added = _error_in(value) if isinstance(value, dict) else None
    if added is None or added in error:
        return error
    return added if error in added else f"{error} ({added})"


def _error_in(value: dict[str, JsonValue]) -> str | None:
    for key in ("error", "exception", "err"):
        inner = value.get(key)
        if inner is not None and inner is not False and inner not in ("", [], {}, 0, "null", "None"):
            return _words(value if inner is True else {"said": inner, **_codes(value)})
    if value.get("isError") is True or value.get("is_error") is True:
        return _words(value)
    if (value.get("success") is False or value.get("ok") is False) and value.keys() & _SAYING:
        return _words(value)
    status = value.get("status")
    if isinstance(status, str) and status.strip().lower() == "error":
        return _words(value)
    errors = value.get("errors")
    if isinstance(errors, list) and errors and not any(value.get(key) for key in ("data", "result", "results")):
        return _words(value)
    return None


def _codes(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: value[key] for key in _CODE_KEYS & value.keys()}


def _words(value: JsonValue) -> str:
    """The error's scalars as text, with status codes marked: an id that looks like one isn't taken for it."""
    return " ".join(_scalars(value, ""))[:_MAX_TEXT_CHARS]


def _scalars(value: JsonValue, key: str, depth: int = 0) -> Iterator[str]:
    if depth > 6:
        return
    if isinstance(value, dict):
        for name, inner in list(value.items())[:40]:
            yield from _scalars(inner, name, depth + 1)
    elif isinstance(value, list):
        for inner in value[:20]:
            yield from _scalars(inner, key, depth + 1)
    elif isinstance(value, str):
        yield value.replace("_", " ") if key in _CODE_KEYS else value
    elif isinstance(value, int) and not isinstance(value, bool) and key in _CODE_KEYS:
        yield f"status {value}"


_SAYING = frozenset({"message", "reason", "detail", "details", "code", "error_code", "error_message", "msg"})
_CODE_KEYS = frozenset(
    {"code", "status", "status_code", "statusCode", "http_status", "httpStatus", "error_code", "errorCode", "type"}
)
_PREFIX = re.compile(
    r"\s*(?:(?:error|exception|traceback \(most recent call last\)|[\w.]{0,60}(?:Error|Exception)|错误|異常|异常)"
    r"\s*[:：]|an error (?:has )?occurred\b|error (?:while )?(?:executing|running|calling|invoking)\b)",
    re.IGNORECASE,
)
_RAISED = re.compile(r"\s*[Ee]rror\s*:\s*(?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception)\s*[:(]")
_PLEASE_AGAIN = re.compile(r"(?:please|kindly)\s+(?:try\s+again|retry)(?!\s+(?:later|in|after))|请重试", re.IGNORECASE)
_CODE_BEFORE = r"(?:status|code|http(?:/[\d.]+)?|error|状态码?|错误码?)[\s:=#(-]{0,4}(?:code)?[\s:=]{0,3}"
_TRANSIENT = re.compile(
    r"time[d ]?[- ]?out|rate[-_ ]?limit|too many requests|throttl|quota|temporar|transient|"
    r"unavailable(?! (?:tool|function)\b)|overload|"
    r"(?:try|retry)\s+(?:again\s+)?(?:later|in\s+\d|after|soon|shortly|in a)|(?:and|then|,) (?:try again|retry)\b|"
    r"\bbusy\b|deadline[_ ]exceeded|resource[_ ]exhausted|rate[_ ]?(?:limit\w*)? exceeded|too fast|slow down|"
    r"\b(?:dead)?lock(?:s|ed)?\b|in use\b|conflict|\betag\b|\bstale\b|eventual|replica|capacity|outage|captcha|"
    r"cloudflare|handshake|\bssl\b|\btls\b|\b(?:unknown|no such) host|"
    r"connection|connect(?:ion)?\s*error|econn|etimedout|network|socket|\bdns\b|unreachable|gateway|"
    r"server\s+error|internal\s+(?:server\s+)?error|service\s+error|upstream|"
    + _CODE_BEFORE
    + r"(?:408|425|429|5\d\d)\b|\b(?:408 request|425 too|429 too|50[0234] [a-z])|"
    r"超时|请求过多|过于频繁|频率限制|限流|稍后|繁忙|暂时|临时|不可用|连接|网络|服务器(?:内部)?(?:错误|异常)|服务异常"
)
_NOT_YET = re.compile(
    r"\bnot\b.{0,20}\byet\b|\bstill\b|\bpending\b|in progress|\bprocessing\b|being (?:created|prepared)|"
    r"\b(?:loading|starting|launched|deploy(?:ing|ment)?|booting)\b|\buntil\b|awaiting|"
    r"\b(?:needs?|requires?|until|has to|must)\b.{0,30}\b(?:approv|confirm)|"
    r"\b(?:approv|confirm)\w*.{0,20}\b(?:required|needed|first)\b|"
    r"(?:been|not) granted|user (?:has )?(?:denied|rejected|declined)|"
    r"尚未|还未|还没|处理中"
)
_PERMANENT = re.compile(
    r"\binvalid\b|validation|not[-_ ]found|\bno such\b|"
    r"\bunavailable (?:tool|function)\b|(?:does|do|did)(?:n't| not) exist|unsupported|"
    r"\bunknown\b(?=\W{1,3}\w)(?! (?:error|exception|failure|reason|cause|issue|problem|status|state)\b)|"
    r"not supported|unrecogni[sz]ed|\bnot (?:a )?valid\b|\bmissing\b|\bis required\b|"
    r"required (?:field|argument|param|prop)|"
    r"permission|forbidden|unauthori[sz]ed|not authori[sz]ed|access denied|not (?:allowed|permitted)|"
    r"malformed|bad request|"
    r"\bmust (?:be|have|match|not)\b|does(?:n't| not) match|unexpected (?:keyword )?(?:argument|field|param)|"
    + _CODE_BEFORE
    + r"(?:400|401|403|404|405|410|422)\b|\b(?:400 bad|401 un|403 for|404 not|405 met|410 gone|422 un)|"
    r"无效|不存在|未找到|找不到|没有找到|缺少|必填|权限|拒绝访问|禁止|格式(?:错误|不正确|不对|有误)|"
    r"参数(?:错误|有误|非法)|非法|未知(?!错误|异常|原因)|不支持|无法识别"
)
# The same words about what the tool itself met: a page or process that moves by itself, a session or token that the
# agent doesn't hold, an answer of another service. Repeating may help there, or it may not.
_NOT_THE_CALL = re.compile(
    r"\b(?:element|selector|locator|session|window|frame|tab|container|pod|build|job|process|cache|browser)\b|"
    r"\bexpired?\b|authenticate\b|"
    r"\b(?:response|reply|upstream|server|output|returned|data)\b.{0,30}\b(?:invalid|malformed|missing|unexpected)|"
    r"\b(?:invalid|malformed|missing|unexpected|parse|validation of).{0,30}"
    r"\b(?:response|reply|upstream|server|output|data)\b|"
    r"'nonetype'"
)
