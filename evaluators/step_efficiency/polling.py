"""Whether a repeated look-up waits for something, or goes on where the one before ended.

In go a step's tool and answer, out comes yes or no; any language.  An answer that tells the state of something under
way is small: a record of an order that has the word "pending" among many fields is a record, and asking for it again
brings nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluators.cases import JsonValue
from evaluators.rules.reading import reading_of
from evaluators.rules.repetition import Step

_LONGEST_LOOKED_AT = 5_000
_LONGEST_STATE = 160
_MOST_FIELDS = 4
_ACCEPTED = 202
_WHOLE_PERCENT, _WHOLE_SHARE = 100, 1.0


def polls(step: Step) -> bool:
    """Whether the call asks for the state of something that is going on, or for what may have come in since."""
    if _STATE_TOOLS.search(step.call.name) is not None:
        return True
    content = (step.call.result.content if step.call.result is not None else None) or ""
    if _UNDER_WAY.search(content[:_LONGEST_LOOKED_AT]) is not None:
        return True
    if len(content) > _LONGEST_LOOKED_AT:
        return False
    value = reading_of(content).value
    if isinstance(value, dict):
        fields = list(_fields(value))
        return len(fields) <= _MOST_FIELDS and any(_is_open(name, field) for name, field in fields)
    return len(content) <= _LONGEST_STATE and _NOT_YET.search(content) is not None


def advances(step: Step) -> bool:
    """Whether the tool gives the next portion at every call, whatever its arguments are."""
    return _NEXT_TOOLS.search(step.call.name) is not None


def _fields(value: dict[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for name, field in value.items():
        if isinstance(field, dict):
            yield from _fields(field)
        else:
            yield name, field


def _is_open(name: str, value: JsonValue) -> bool:
    """Whether a field says that something isn't done."""
    if isinstance(value, bool):
        return not value and _DONE_KEYS.fullmatch(name) is not None
    if isinstance(value, int | float):
        if _PROGRESS_KEYS.search(name) is not None:
            return value < (_WHOLE_SHARE if isinstance(value, float) and value < _WHOLE_SHARE else _WHOLE_PERCENT)
        return value == _ACCEPTED and _CODE_KEYS.fullmatch(name) is not None
    return isinstance(value, str) and len(value) <= _LONGEST_STATE and _NOT_YET.search(value) is not None


_STATE_TOOLS = re.compile(
    r"status|state(?:$|_)|progress|\bjobs?\b|(?:^|_)(?:job|task|build|deploy|queue|health|inbox|mailbox|notifications?"
    r"|ticker|clock|now|time|heartbeat|ping|live|uptime|eta|tracking)(?:$|_)|poll|await|new_(?:mail|message|event)s?"
    r"|check_e?mails?|real_?time|current_time|(?<=[a-z])(?:Status|State|Progress|Inbox|Time|Job|Queue)"
    r"|状态|进度|任务|时间|消息|通知|状況|進捗|상태|진행",
    re.IGNORECASE,
)
_NEXT_TOOLS = re.compile(
    r"(?:^|_|(?<=[a-z]))(?:next|more|continue|advance|dequeue|receive|consume|pop)(?:$|_|(?=[A-Z]))"
    r"|(?<=[a-z])(?:Next|More)|下一|更多|次の",
)
_UNDER_WAY = re.compile(
    r"(?:^|[\"':])\s*(?:running|queued|in[ _-]?progress|processing|building|waiting|starting|initiali[sz]ing|"
    r"not[ _]ready)\s*(?:$|[\"',}\n])|处理中|进行中|排队|运行中|生成中|执行中|処理中|実行中|처리 ?중|진행 ?중",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:pending|submitted|scheduled|accepted|preparing|provisioning|generating|rendering|uploading|downloading"
    r"|deploying|validating|awaiting|deferred|started|unfinished|incomplete|in transit|out for delivery|under review"
    r"|on hold|not (?:yet )?(?:ready|done|finished|available|started|complete)|not yet|still|no new|nothing new"
    r"|try again later|please wait|warming up|spinning up)\b"
    r"|\b(?:in bearbeitung|läuft|ausstehend|wartet|en cours|en attente|pas encore|en proceso|en curso|pendiente"
    r"|em andamento|pendente|processando|in corso|in attesa|w toku)\b"
    r"|в обработке|в процессе|ожида|выполня|ещё не|еще не"
    r"|[\u4e00-\u9fff]中$|等待|待处理|待支付|待审核|待确认|未完成|尚未|还没|暂无|稍后|準備|待機|まだ|대기|아직",
    re.IGNORECASE,
)
_DONE_KEYS = re.compile(
    r"(?:is_?)?(?:ready|done|finished|completed?|available|settled|resolved|success|succeeded)|完成|是否完成|已完成",
    re.IGNORECASE,
)
_PROGRESS_KEYS = re.compile(r"progress|percent|pct|completion|进度|百分比|完成度", re.IGNORECASE)
_CODE_KEYS = re.compile(r"code|status_?code|http_?status|status", re.IGNORECASE)
