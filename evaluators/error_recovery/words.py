"""The words in which answers speak of success and of what an error was about, in the languages agents mostly speak.

What is missing here costs a question to a judge; a word too many would let a hidden error pass.
"""

from __future__ import annotations

import re


def _any_of(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


def content_words(text: str) -> frozenset[str]:
    """The words of a text that carry its meaning; in scripts without blanks, its pairs of characters."""
    return frozenset((*_WORD.findall(text.lower()), *_PAIR.findall(text))) - _FILLERS


_WORD = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_PAIR = re.compile(r"(?=([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}))")
_NO_CONTENT = "error exception the an is are was were be to of in on for with and or"
_FILLERS = frozenset(_NO_CONTENT.split())
NEGATION = _any_of(
    r"\b(?:not|no|only|cannot|without|insufficient|too)\b|n['’]t\b|不|没|无|未|只|nicht|kein|\bpas\b|\bno\b"
)
# what says that nothing failed, or that somebody may not do something, in words that otherwise tell of a failure
NO_FAILURE = _any_of(
    r"\b(?:no|without(?: any)?|zero|0|free of) (?:errors?|failures?|problems?|issues?|trouble)\b",
    r"error[- ]free|(?:did|do|does)(?:n't| not) fail|never fail\w*|not a problem",
    r"\byou (?:can't|cannot|can not)",
    r"(?:没有|没|无)(?:任何|出现|发生|发现)?(?:任何)?(?:错误|问题|异常|故障|失败)",
    r"(?:您|你)(?:将|会)?(?:无法|不能)",
    r"keine? (?:fehler|probleme?)|sin (?:errores|problemas)|sans (?:erreur|problème)",
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[。！？；\n]+|;\s")
ASKS_BACK = _any_of(
    r"(?:could|can|would) you (?:please )?(?:also )?"
    r"(?:provide|confirm|check|share|give|tell|double-?check|verify|clarify|send)",
    r"please (?:provide|confirm|check|share|double-?check|verify|clarify|send|tell)",
    r"(?:请|麻烦)(?:您|你)?再?(?:提供|确认|核对|核实|检查|告诉|告知|重新|补充)",
    r"(?:能否|可以|可否)请?(?:您|你)?(?:提供|确认|核对|告诉)",
)
SUCCESS = _any_of(
    r"success(?:fully)?\b|\ball (?:set|done)\b",
    r"\b(?:has|have|is|are|was|were|'s|'ve) (?:now |been |all )*(?:booked|confirmed|sent|created|updated|cancelled|"
    r"canceled|deleted|scheduled|placed|processed|completed|done|saved|added|paid|set|made|written|restarted)\b",
    r"\b(?:i|we)(?:'ve| have)? (?:now |already |just )*(?:booked|confirmed|sent|created|updated|cancell?ed|deleted"
    r"|scheduled"
    r"|placed|completed|saved|added|paid|restarted)\b",
    r"(?<!未)(?<!没有)(?<!不)成功(?!率)",
    r"已(?:经)?(?:[为帮给][您你])?(?:预订|预定|预约|完成|发送|创建|更新|取消|删除|提交|保存|添加|办理|下单|支付|确认"
    r"|订好)",
    r"(?:预订|预定|办理|发送|提交|订)好了?(?![的像])",
)
# An error and an answer that speak of the same: "Permission denied" and "I'm not permitted to do that". The words alone
# may be about anything, so each counts only where the error itself says it.
SAME_MATTER: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        _any_of(
            r"not[-_ ]?found|no such|(?:does|do|did)(?:n't| not) exist|unknown|\b404\b|不存在|未找到|找不到|没有?找到"
        ),
        _any_of(
            r"\b(?:no|not any|none|nothing|isn't (?:any|a)|not (?:in|on) (?:our|the|my))\b|not find|n't find"
            r"|not (?:be )?found",
            r"(?:does|do|did)(?:n't| not) (?:seem to )?exist|unknown|没有|无此|查无|不存在|找不到|未找到|查不到|未查到",
            r"\bkeine?n?\b|nicht (?:gefunden|finden)|\baucune?\b|introuvable|\bningun[ao]?\b|\bningún\b",
            r"no (?:se )?encontr|não (?:foi )?encontr|見つかりません|찾을 수 없",
        ),
    ),
    (
        _any_of(
            r"permi(?:ssion|tted)|forbidden|unauthori[sz]ed|not authori[sz]ed|denied|not allowed|\b40[13]\b|权限"
            r"|未授权|拒绝"
        ),
        _any_of(
            r"permission|not permitted|not allowed|authori[sz]|(?:no|not have|n't have|lack|denied) (?:the )?access",
            r"denied|权限|无权|未授权|被拒|berechtig|keinen zugriff|autoris|autoriz|permiso|permissão|権限|권한",
        ),
    ),
    (_any_of(r"declin|reject|refus|拒"), _any_of(r"declined|rejected|refused|被拒|拒绝|abgelehnt|refusée?|rechazad")),
    (
        _any_of(r"invalid|not (?:a )?valid|malformed|无效|格式|不合法|有误"),
        _any_of(
            r"invalid|not (?:a )?valid|n't (?:a )?valid|wrong format|无效|格式|不合法|有误|ungültig|invalide|inválid"
            r"|無効"
        ),
    ),
    (
        _any_of(r"time[d ]?[- ]?out|超时"),
        _any_of(r"timed? ?out\b|took too long|超时|zeitüberschreitung|タイムアウト|시간 ?초과"),
    ),
    (
        _any_of(r"rate[-_ ]?limit|too many requests|\b429\b|限流|频繁"),
        _any_of(r"rate[- ]limit|too many requests|限流|频繁"),
    ),
    (
        _any_of(r"not (?:\w+ or )?available|out of stock|sold out|缺货|无货|售罄|不足"),
        _any_of(
            r"unavailable|not available|n't available|out of stock|sold out|no longer available|缺货|无货|售罄|没有货"
            r"|不足"
        ),
    ),
    (_any_of(r"unsupported|not supported|不支持"), _any_of(r"unsupported|not supported|n't supported|不支持")),
)
