"""The words in which answers speak of failure and success, in the languages that agents mostly speak.

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
_FILLERS = frozenset(
    (
        "error",
        "exception",
        "the",
        "an",
        "is",
        "are",
        "was",
        "were",
        "be",
        "to",
        "of",
        "in",
        "on",
        "for",
        "with",
        "and",
        "or",
    )
)
NEGATION = _any_of(
    r"\b(?:not|no|only|cannot|without|insufficient|too)\b|n['’]t\b|不|没|无|未|只|nicht|kein|\bpas\b|\bno\b"
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[。！？；\n]+|;\s")
# what says that nothing failed, or that somebody may not do something, in words that otherwise tell of a failure
NO_FAILURE = _any_of(
    r"\b(?:no|without(?: any)?|zero|0|free of) (?:errors?|failures?|problems?|issues?|trouble)\b",
    r"error[- ]free|(?:did|do|does)(?:n't| not) fail|never fail\w*|not a problem",
    r"\byou (?:can't|cannot|can not)",
    r"(?:没有|没|无)(?:任何|出现|发生|发现)?(?:任何)?(?:错误|问题|异常|故障|失败)",
    r"(?:您|你)(?:将|会)?(?:无法|不能)",
    r"keine? (?:fehler|probleme?)|sin (?:errores|problemas)|sans (?:erreur|problème)",
)
FAILED = _any_of(
    r"could ?n't|could not|can ?not|can't|unable|was ?n't able|not able|fail(?:s|ed|ure|ing)?\b|\berror|timed? ?out",
    r"unavailable|not available|(?:is|are) down\b",
    r"(?:did|does)(?:n't| not) (?:work|respond|succeed|go through|exist)",
    r"(?:is|are|was|were) ?n[o']t (?:found|possible|permitted|allowed|authori[sz]ed|valid|supported|recogni[sz]ed)",
    r"not (?:found|permitted|authori[sz]ed|valid|supported)|no such|rejected|denied|declined|refused|unsuccessful",
    r"invalid|went wrong|permission|unreachable|not respond|rate limit",
    r"(?:problem|issue|trouble)s? (?:with|while|when|in|getting|accessing|reaching|connecting)",
    r"失败|无法|未能|没能|没有成功|未成功|不成功|没成功|出错|错误|报错|异常|超时|不可用|不存在|未找到|找不到|没有?找到",
    r"查不到|没有?查到|查询不到|无权|权限|被拒|拒绝|无效|不支持|故障|繁忙|限流|出了问题|遇到了?(?:一些|一点)?问题|连接不上",
    r"konnte\b.{0,80}\bnicht|nicht (?:möglich|gefunden|verfügbar|erreichbar)|fehlgeschlagen|fehler",
    r"n'ai pas pu|n'a pas pu|impossible|échoué|erreur|introuvable|indisponible",
    r"no (?:pude|pudo|se pudo|fue posible|encontr)|falló|no disponible",
    r"não (?:foi possível|consegui|encontr)|falhou|erro\b",
    r"できません|失敗|エラー|見つかりません|실패|오류|할 수 없",
)
# the speaker's or a tool's own failure, told as such
OWN_FAILURE = _any_of(
    r"\b(?:i|we)(?:'m|'ve| am| was| were| have| had)?(?: been)?(?: still| currently| unfortunately| also)? ?"
    r"(?:unable|not able|could ?n't|could not|can't|cannot|can not|failed|wasn't able|weren't able|ran into|run into|"
    r"encountered|(?:had|having) (?:trouble|problems?|issues?|difficult)|did(?:n't| not) (?:manage|find|get))",
    r"(?:there (?:was|is|were|seems to be)|due to|because of) (?:an? |some |the )?(?:technical |temporary |internal )?"
    r"(?:error|problem|issue|failure|outage|timeout)",
    r"\b(?:tool|service|system|api|server|request|search|look-?up|call|query|database|connection|website|page|site)\b"
    r".{0,40}(?:fail|timed? ?out|unavailable|not available|\bdown\b|error|not respond|(?:did|does)(?:n't| not) work)",
    r"(?:unfortunately|sorry|apologi[sz]e|regret).{0,80}(?:could ?n't|could not|can't|cannot|unable|not able|fail|"
    r"error|unavailable|not available|not found)",
    r"失败|无法|未能|没能|出错|报错|超时|不可用|查不到|没有?查到|找不到|没有?找到|未找到|不存在",
    r"遇到了?(?:一些|一点)?(?:问题|错误|故障)|服务(?:器)?(?:异常|故障|繁忙)",
    r"konnte ich.{0,60}nicht|ich konnte.{0,80}nicht|je n'ai pas pu|no (?:pude|se pudo)|não consegui",
    r"できませんでした|失敗しました|할 수 없(?:었)?습니다|실패했습니다",
)
NOTHING = _any_of(
    r"\b(?:no|not any|none|nothing|isn't (?:any|a)|not (?:in|on) (?:our|the|my))\b",
    r"没有|无此|查无|\bkeine?n?\b|\baucune?\b|\bningun[ao]?\b|\bningún\b",
)
NOT_FOUND = _any_of(
    r"not[-_ ]?found|no such|(?:does|do|did)(?:n't| not) exist|unknown|\b404\b|不存在|未找到|找不到|没有?找到"
)
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
    r"canceled|deleted|scheduled|placed|processed|completed|done|saved|added)\b",
    r"(?<!未)(?<!没有)(?<!不)成功(?!率)",
    r"已(?:经)?(?:[为帮给][您你])?(?:预订|预定|预约|完成|发送|创建|更新|取消|删除|提交|保存|添加|办理|下单|支付|确认)",
    r"(?:预订|预定|办理|发送|提交)好了",
)
