"""What a call does to the world: reads, writes, waits, or nobody knows.

In goes a tool's name, out comes its effect: from what the operator configured, else from what its server says of it,
else from the verb in its name.  A verb that says nothing certain gives `unknown`, and who asks must not claim anything
that depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

_LONGEST_NAME = 200


class Effect(StrEnum):
    """Whether calling a tool changes something that a later call could see."""

    READ = "read"
    WRITE = "write"
    WAIT = "wait"
    UNKNOWN = "unknown"


def effect_of(
    name: str,
    *,
    read_tools: Collection[str] = (),
    write_tools: Collection[str] = (),
    read_only: bool | None = None,
) -> Effect:
    """The effect of the tool `name`.

    Args:
        name: as the model called it, with or without a namespace (`server.tool`, `server__tool`, `functions.tool`).
        read_tools: names or patterns (`*`) of tools known to change nothing; these win over everything else.
        write_tools: names or patterns of tools known to change something.
        read_only: whether the tool's server says that it changes nothing; that it may is no proof that it does.
    """
    if any(fnmatchcase(name, pattern) for pattern in read_tools):
        return Effect.READ
    if any(fnmatchcase(name, pattern) for pattern in write_tools):
        return Effect.WRITE
    if read_only:
        return Effect.READ
    named = _by_verb(name[:_LONGEST_NAME])
    return Effect.UNKNOWN if read_only is False and named is Effect.READ else named


@lru_cache(maxsize=1_000)
def _by_verb(name: str) -> Effect:
    bare = re.split(r"__|[./:]", name)[-1]
    if (chinese := _CHINESE.match(bare)) is not None:
        if chinese.group(1):
            return Effect.READ
        return Effect.UNKNOWN if _CHINESE_NOUNS.search(bare) else Effect.WRITE
    words = [word.lower() for word in _WORD.findall(bare)]
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if (word, following) in _UNCLEAR_PAIRS:
            return Effect.UNKNOWN
        if word in _ANYTHING:
            return Effect.UNKNOWN
        if word in _WRITE:
            return Effect.UNKNOWN if following in _NOUNS_AFTER else Effect.WRITE
        if word in _WAIT:
            return Effect.WAIT
        if word in _READ:
            also = {words[i + 1] for i in range(at, len(words) - 1) if words[i] in ("or", "and", "then")}
            return Effect.WRITE if also & _WRITE else Effect.READ
    return Effect.UNKNOWN


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CHINESE = re.compile(
    r"(查询|查看|查找|搜索|检索|获取|读取|列出|计算|统计|浏览)"
    r"|发送|创建|新建|删除|修改|更新|预订|预定|支付|付款|退款|取消|提交|下单|保存|写入|上传|发布|添加|移除|转账"
)
_CHINESE_NOUNS = re.compile(r"查询|查看|记录|历史|列表|详情|状态|日志|进度|信息|统计")
_READ_VERBS = """
    get fetch read list search find lookup look query retrieve browse view show describe inspect count check compare
    calculate compute convert translate summarize summarise analyze analyse explain preview estimate validate verify
    recommend suggest detect classify extract parse weather forecast geocode grep glob ls cat stat head tail whois
    select load peek scan think
"""
_WRITE_VERBS = """
    create add insert book reserve order buy purchase pay charge refund transfer send post publish email notify reply
    delete remove cancel update modify edit change put patch write save store upload rename replace assign submit
    approve reject confirm register enroll subscribe unsubscribe schedule reschedule exchange return grant revoke
    deploy issue redeem withdraw deposit invite archive merge commit push install uninstall append
"""
# after these a verb was a noun: order_status, exchange_rate, book_details
_NOUN_FOLLOWERS = """
    status detail details info information rate rates history list lookup search id number tracking summary report
    price prices data by
"""
_READ = frozenset(_READ_VERBS.split())
_WRITE = frozenset(_WRITE_VERBS.split())
# these may change something, but doing them twice harms nobody, or the verb says too little
_ANYTHING_VERBS = """
    ask run execute call invoke delegate do use click press type tap scroll http request shell bash python eval
    handle process task agent open close start stop restart kill set reset enable disable move copy apply go
    navigate
"""
_ANYTHING = frozenset(_ANYTHING_VERBS.split())
_NOUNS_AFTER = frozenset(_NOUN_FOLLOWERS.split())
_WAIT = frozenset({"wait", "sleep", "pause", "delay"})
# "check in" boards a passenger, "check" alone looks
_UNCLEAR_PAIRS = frozenset({("check", "in"), ("check", "out"), ("set", "up"), ("look", "after"), ("read", "write")})
