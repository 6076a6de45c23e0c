"""Whether a tool's own error blames the arguments it was given.

In: the error a call ended in, and the names and values of its arguments.  Out: what the tool says is wrong, conclusive
where it says in so many words that an argument is missing, invalid or of the wrong form.  A bare "not found" and an
error that doesn't give its reason are suspicions; so is the rejection of a value that the user had given, and one for
the state that things are in.  Time-outs, missing permission and a broken server blame nobody's arguments, and what a
program or page says that the tool ran or fetched is about that program's.  English and Chinese wording, and the
machine-readable forms of common validators.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from evaluators.issues import IssueCode
from evaluators.rules.errors import ErrorClass, ToolError
from evaluators.rules.secrets import shown
from evaluators.rules.tool_names import says_no_such_tool

_LONGEST_TEXT = 4_000
_QUOTE_LENGTH = 140
_NEAR = 60
_SHORTEST_QUOTED = 3
# tools with such arguments run or fetch something that has arguments and errors of its own
_IN_A_LANGUAGE = re.compile(
    r"\s*(?:select\b.{1,400}\bfrom\b|insert\s+into\b|update\b.{1,400}\bset\b|delete\s+from\b|alter\s+table\b"
    r"|drop\s+table\b"
    r"|create\s+(?:table|view|index)\b|with\b.{1,80}\bas\s*\(|match\s*\(|(?:query|mutation)\b.{0,80}\{)",
    re.IGNORECASE | re.DOTALL,
)
_PROGRAMS = frozenset({"command", "cmd", "code", "script", "program", "sql", "url", "uri", "expression", "shell"})


@dataclass(frozen=True, slots=True)
class ArgumentError:
    """What the tool says about the arguments; a suspicion unless `conclusive`."""

    code: IssueCode
    detail: str
    conclusive: bool


def argument_error(
    error: ToolError,
    *,
    known: Collection[str],
    given: Collection[str],
    values: Collection[tuple[str, str]],
    said_by_user: str = "",
) -> ArgumentError | None:
    """What `error` says about the call's arguments; None when they have nothing to do with it.

    Args:
        error: the error the call ended in.
        known: names of the arguments in the tool's schema; empty when it wasn't captured.
        given: names of the arguments that the model gave, nested ones too.
        values: texts that the model gave as values, each with the name of its argument.
        said_by_user: the user's messages.
    """
    text = error.text[:_LONGEST_TEXT]
    if says_no_such_tool(text):
        return None
    names = {*known, *given}
    programs = any(name.lower() in _PROGRAMS for name in names) or any(
        _IN_A_LANGUAGE.match(value) for _, value in values
    )
    strictly = programs or not error.certain
    blame = _explicit_in_plain_text(text, names) if strictly else _explicit(text, names, [value for _, value in values])
    if blame is not None and not _about_injected(text, known, given):
        # that a value is refused, and not its form, may be the world's fault or the user's
        sure = blame is not IssueCode.WRONG_VALUE or not (
            _IN_THIS_STATE.search(text) or _refuses_the_users(text, values, said_by_user)
        )
        return ArgumentError(blame, f"The tool rejected an argument: {_quote(text)}", conclusive=sure)
    if error.kind is ErrorClass.TRANSIENT or _NOT_ALLOWED.search(text) or _SERVER.search(text):
        return None
    if _NOT_FOUND.search(text):
        return ArgumentError(IssueCode.WRONG_VALUE, f"The tool did not find what was asked for: {_quote(text)}", False)
    detail = f"The tool failed, perhaps because of its arguments: {_quote(text)}"
    return ArgumentError(IssueCode.WRONG_VALUE, detail, conclusive=False)


def _refuses_the_users(text: str, values: Collection[tuple[str, str]], said_by_user: str) -> bool:
    """Whether a value that the error quotes, or whose argument it names, is what the user had said."""
    return any(
        value
        and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said_by_user) is not None
        and (
            (value in text and len(value) >= _SHORTEST_QUOTED)
            or any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text, re.IGNORECASE) for one in _spellings(name))
        )
        for name, value in values
    )


# Says itself that it is about arguments.
_ARGUMENT = r"(?:arguments?|args?|params?|parameters?|inputs?|kwargs?|fields?|propert(?:y|ies))"
_GENERIC = re.compile(
    r"\b(?:invalid|bad|illegal|malformed|incorrect|wrong|unsupported|missing|unknown|unrecogni[sz]ed|unexpected|extra)"
    r"[ _-](?:\d+ )?(?:required[ _])?(?:tool |function |keyword |keyword-only |positional |request |input |extra )*"
    rf"{_ARGUMENT}\b"
    rf"|\b{_ARGUMENT} (?:\S{{1,40}} ){{0,2}}(?:is|are|was|were) (?:\w+ )?"
    r"(?:invalid|missing|required|malformed|incorrect)"
    r"|\brequired (?:argument|parameter|property|field)s?\b(?! (?:is|are) present)"
    r"|additional properties are not allowed|is a required property|\bvalidation errors? for \w*(?:arg|input|param)"
    r"|\b(?:input|arguments?|parameters?|schema) (?:schema )?validation (?:error|failed)"
    r"|\b(?:argument|parameter) (?:must|should|has to|needs to) be"
    r"|-32602|does(?:n't| not) (?:match|conform to) (?:the )?(?:input |tool |parameter )?schema"
    r"|参数\S{0,12}(?:错误|无效|不合法|非法|缺失|不正确|有误|格式不|不能为空|不符合|超出)"
    r"|(?:缺少|缺失|无效的?|非法|错误的?|不合法的?)(?:必填|必需|必要|必选|输入|请求)?的?参数",
    re.IGNORECASE,
)
# Blames an argument if it names one, or repeats its value, in the same clause.
_SPECIFIC = re.compile(
    r"\b(?:is )?(?:invalid|malformed|ill-formed|not (?:a |an )?(?:valid|recogni[sz]ed|allowed value))\b"
    r"|\b(?:must|should|has to|needs to|ought to) (?:be|have|match|contain|follow|start|use|look like) (?:"
    r"an?\b|one of|of (?:the )?(?:form|type|format)|in (?:the )?(?:format|form|range|future|iso|iata)|between"
    r"|formatted|valid|at (?:least|most)|greater|less|positive|non-?empty|provided|specified|the (?:format|form)"
    r"|[\[(<{'\"`]?[A-Z]{2,4}[-/:])"
    r"|\bexpect(?:ed|s|ing) (?!error)(?:an?|one of|type|format|value|string|number|int|integer|boolean|list|array"
    r"|object|[\"'`<\[A-Z])"
    r"|\b(?:does|did)(?:n't| not) (?:match|conform|parse|satisfy)\b|\bis (?:a )?required\b|\bfield required\b"
    r"|\b(?:out of|outside (?:the )?)(?: valid| allowed)? ?range\b|\bis too (?:long|short|large|small|many|few)\b"
    r"|\b(?:have|has) the (?:form|format)\b|\bof the form\b"
    r"|\b(?:wrong|bad|incorrect|unsupported|expected) (?:format|form|type)\b"
    r"|\b(?:cannot|can't|can not|must not|may not) be (?:empty|blank|null|none|negative)\b"
    r"|\bnot one of\b|\bnot (?:a|an) (?:number|integer)\b"
    r"|\b(?:could not|couldn't|cannot|can't|unable to|failed to) (?:parse|convert|coerce)\b|\binput should be\b"
    r"|\binvalid[_ ](?:type|enum|literal|date|string|value|format)|\bvalue_error\b|\btype_error\b|\bunrecognized_keys\b"
    r"|格式|必须[是为]|应[为是该]|无效|不合法|非法|不能为空|为必填|必填|不符合|超出(?:范围|取值)|取值范围|类型错误"
    r"|类型不|只能是|不支持的",
    re.IGNORECASE,
)
_WHOLE_REPORT = re.compile(
    r"validation error|\bzod|\"(?:path|loc|instancePath)\"\s*:|\[type=\w+|\binvalid_type\b|参数校验|校验失败",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;\n；。!！]|\.\s")

_NOT_ALLOWED = re.compile(
    r"permission|forbidden|unauthori[sz]ed|not authori[sz]ed|access denied|not (?:allowed|permitted) to\b|\b40[13]\b"
    r"|(?:invalid|missing|expired|wrong|no) (?:api[ _-]?key|access token|auth\w*|credentials?|session|signature)"
    r"|log(?:ged)? ?in\b|authentication|subscription|insufficient|quota|billing"
    r"|权限|未登录|未授权|拒绝访问|余额不足|禁止",
    re.IGNORECASE,
)
_SERVER = re.compile(
    r"internal (?:server )?error|server error|\b50[0-4]\b|unavailable|connection|database|traceback|segmentation"
    r"|服务器|系统错误|系统异常|内部错误",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(
    r"not[ _-]found|no (?:such|matching|results?)|(?:does|do|did)(?:n't| not) exist|unknown|cannot find|can't find"
    r"|could(?:n't| not) (?:be )?f(?:i|ou)nd|\b404\b|不存在|未找到|找不到|没有找到|查无",
    re.IGNORECASE,
)

# A form is wrong whatever the world is like; these say that only now, or only for this one, it can't be done.
_IN_THIS_STATE = re.compile(
    r"\b(?:not valid (?:for|any ?more)|no longer|any ?more|expired?|already|declined|balance|insufficient|stock"
    r"|sold out|availab\w+|state|transition|calendar|closed|eligible|cvc|cvv|pin)\b|余额|库存|已经|过期",
    re.IGNORECASE,
)
# what came back from elsewhere, not what was sent
_OF_A_RESPONSE = re.compile(
    r"\b(?:response|reply|output|upstream)\b.{0,20}(?:match|valid|conform|parse|schema)"
    r"|validation errors? for \w*(?:response|output|result|reply)|(?:invalid|malformed) (?:response|reply|output)",
    re.IGNORECASE,
)
_INJECTED_NAMES = frozenset(
    {"self", "cls", "ctx", "context", "state", "config", "runtime", "tool_call_id", "tool_context", "run_context"}
    | {"run_manager", "callbacks", "store", "session", "agent", "kwargs", "args", "request", "deps"}
)
_NAMED_IN_TYPE_ERROR = re.compile(
    r"(?:unexpected keyword argument|required (?:positional |keyword-only )?arguments?:?|missing argument:?)"
    r"\s*[\"'`]?([A-Za-z_]\w{0,60})"
)


def _explicit(text: str, names: Collection[str], values: Collection[str]) -> IssueCode | None:
    """The code of what the text says is wrong with an argument; None when it doesn't say so."""
    lowered = text.lower()
    if _SYSTEM_CALL.search(text) or _OF_A_RESPONSE.search(text):
        return None
    if _GENERIC.search(text) and not _ONLY_AUTH.search(text):
        return _code(lowered)
    mentions = _mentions(names, values)
    if mentions is None:
        return None
    if _WHOLE_REPORT.search(text) and mentions.search(text):
        return _code(lowered)
    for clause in _CLAUSE.split(text):
        specific = _SPECIFIC.search(clause)
        if specific is None or _ONLY_AUTH.search(clause):
            continue
        if mentions.search(clause):
            return _code(clause.lower())
    return None


def _explicit_in_plain_text(text: str, names: Collection[str]) -> IssueCode | None:
    """The same for an error that only a text tells of, which may as well be a log that the tool was to read.

    It has to name an argument right before or right after the words that blame it.
    """
    mentions = _mentions(names, ())
    if mentions is None or _SYSTEM_CALL.search(text) or _OF_A_RESPONSE.search(text):
        return None
    for clause in _CLAUSE.split(text):
        blamed = _SPECIFIC.search(clause) or _GENERIC.search(clause)
        if blamed is None or _ONLY_AUTH.search(clause):
            continue
        before, after = clause[max(0, blamed.start() - _NEAR) : blamed.start()], clause[blamed.end() :]
        named_next = mentions.search(after)
        if mentions.search(before) or (named_next is not None and len(after[: named_next.start()].split()) <= 1):
            return _code(clause.lower())
    return None


# "[Errno 22] Invalid argument" is the operating system speaking to the tool.
_SYSTEM_CALL = re.compile(r"\berrno\b|\bos ?error\b", re.IGNORECASE)
# "invalid api key" as such blames nobody's argument; "access_token is required" may.
_ONLY_AUTH = re.compile(
    r"\b(?:invalid|missing|expired) (?:\w+ )?(?:api[ _-]?key|credentials?|session|signature|access token)\b"
    r"|\b(?:log ?in|authentication|authorization|approval|payment|confirmation) (?:is )?required\b",
    re.IGNORECASE,
)


def _mentions(names: Collection[str], values: Collection[str]) -> re.Pattern[str] | None:
    spellings = {spelling for name in names for spelling in _spellings(name)}
    spellings |= {value for value in values if 4 <= len(value) <= 80 or (len(value) == 3 and value.isupper())}
    if not spellings:
        return None
    longest_first = sorted(spellings, key=len, reverse=True)[:200]
    return re.compile(
        r"(?<![A-Za-z0-9_])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![A-Za-z0-9_])", re.IGNORECASE
    )


def _spellings(name: str) -> set[str]:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").strip()
    return {one for one in (name, words) if len(one) >= 2}


def _about_injected(text: str, known: Collection[str], given: Collection[str]) -> bool:
    """Whether the argument that is missing or too many is one that the framework adds, not the model."""
    named = _NAMED_IN_TYPE_ERROR.search(text)
    if named is None:
        return False
    name = named[1]
    if "unexpected" in named[0]:
        return name not in given
    return name not in known if known else name in _INJECTED_NAMES


_BY_WORDS: tuple[tuple[IssueCode, re.Pattern[str]], ...] = (
    (
        IssueCode.UNEXPECTED_ARGUMENT,
        re.compile(r"unexpected|unrecogni[sz]ed|additional propert|unknown (?:argument|param|field)|extra"),
    ),
    (
        IssueCode.MISSING_ARGUMENT,
        re.compile(
            r"\bmissing\b|required (?:arg|prop|param|field|positional)|is (?:a )?required|field required|缺少|缺失|必填"
        ),
    ),
    (IssueCode.NOT_IN_ENUM, re.compile(r"one of|enum|allowed values?|只能是")),
    (
        IssueCode.BAD_FORMAT,
        re.compile(r"format|\bform\b|pattern|match|malformed|parse|iso|[ymd]{2,4}[-/][ymd]{2}|expected an|格式"),
    ),
    (
        IssueCode.WRONG_TYPE,
        re.compile(r"\btype\b|_type\b|must be an? (?:int|num|str|bool|list|arr|obj)|not an? (?:int|num)|convert|类型"),
    ),
)


def _code(lowered: str) -> IssueCode:
    return next((code for code, words in _BY_WORDS if words.search(lowered)), IssueCode.WRONG_VALUE)


def _quote(text: str) -> str:
    return f"“{shown(' '.join(text.split()), _QUOTE_LENGTH)}”"
