"""Sentences in which a speaker says that something it tried didn't work, in the languages that agents mostly speak.

In go a sentence and what the failed call was, out comes whether the sentence is such an admission.  A failing of the
world is none: "all hotels are unavailable", "I found no flights" and "his login fails" may be told of a look-up that
never worked.  So an admission needs a speaker who couldn't do it, a tool that failed, or trouble that was met; and it
isn't one behind an "if", or where a document is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_TOOLS = (
    r"tools?|services?|systems?|apis?|servers?|backend|requests?|search(?:es)?|look-?ups?|calls?|quer(?:y|ies)"
    r"|databases?|websites?|pages?|sites?|providers?|functions?|connections?|endpoints?|attempts?"
)


def admits(sentence: str, *, changing: bool, kinds: Collection[str], subjects: Collection[str]) -> bool:
    """Whether the sentence says that what was tried didn't work.

    Args:
        sentence: one sentence, with plain apostrophes.
        changing: the call was to change something, so that its object's failing is its own.
        kinds: the words of its tool that say what it is about (weather), in small letters.
        subjects: what it asked for (Paris).
    """
    for match in _admissions(sentence, changing):
        before = sentence[: match.start()]
        if not changing and _is_something_else(match, before, kinds, subjects):
            continue
        if _IF.search(before) is None and (_QUOTES.search(before) is None or _TOOL_SAYS.search(before) is not None):
            return True
    return False


def _is_something_else(match: re.Match[str], before: str, kinds: Collection[str], subjects: Collection[str]) -> bool:
    """Whether what failed is what was looked at, not what it was looked up with: "the payment API is down"."""
    found = match.groupdict()
    if found.get("tool") is not None:
        kind = found.get("kind") or ""
        words = {word.removesuffix("s") for word in re.findall(r"[^\W_]+", kind.lower())}
        return found["tool"].lower().removesuffix("s") in kinds or not words <= {*kinds, *_ANY_TOOL}
    if found.get("service") is not None:
        return any(before.rstrip().lower().endswith(word) for word in subjects)
    return False


def is_supposed(sentence: str) -> bool:
    """Whether the sentence speaks of what may happen, or of what a document says."""
    return _IF.search(sentence) is not None or _QUOTES.search(sentence) is not None


def _admissions(sentence: str, changing: bool) -> Iterator[re.Match[str]]:
    for pattern in (*_ALWAYS, *(_OF_CHANGES if changing else ())):
        yield from pattern.finditer(sentence)


def _any_of(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


# "I couldn't find any" tells of an empty result, "I can't wait" of nothing
_NOT_FINDING = (
    r"(?!(?:\w+ly )?(?:find|locate|see|identify|spot|discover|come across|turn up|guarantee|promise|wait|recommend"
    r"|stress|emphasi[sz]e|thank|help but|imagine|think|complain|say enough)\b)"
)
_UNABLE = (
    r"(?:(?:am|are|was|were|been|'m|'re) (?:\w+ly |still |also |just )?(?:unable|not able) to"
    r"|(?:was|were|are) ?n't able to|(?:\w+ly |still |also |just )?(?:could ?n't|could not|can ?not|can't|failed to"
    r"|(?:did(?:n't| not)) (?:manage|get|succeed))(?: to| in)?)"
)
_TROUBLE = r"(?:errors?|problems?|issues?|trouble|difficult(?:y|ies)|failures?|outages?|time-?outs?|hiccups?)"
_BROKE = (
    r"(?:fails?\b|failed|failure|timed? ?out|timing out|unavailable|not available|(?:is|are|was|were|be) (?:currently "
    r"|temporarily )?down\b|unreachable|unresponsive|offline|(?:returned|gave|reported|threw|hit|had|has|with) "
    r"(?:an? |some )?(?:[\w-]+ ){0,2}(?:error|problem|issue)(?! rates?)|not respond\w*|n't respond\w*"
    r"|(?:did|does|do|is|was|are)(?:n't| not) (?:work\w*|go through|succeed)"
    r"|(?:could|can)(?:n't| ?not) be (?:reached|completed|processed|executed|accessed))"
)
_GOT = (
    "获取|查询|查看|访问|连接|读取|加载|调用|得到|取得|检索(?!到)|搜索(?!到)|查(?![到询看])|打开|提供|处理|响应|使用"
    "|回答|告诉|为您|帮您|给您"
)
_DID = (
    "完成|取消|预订|预定|预约|订|执行|发送|保存|更新|创建|删除|修改|提交|下单|支付|转账|办理|改签|操作|上传|下载|退款"
)
_TROUBLED = (
    "不可用|异常|故障|繁忙|超时|出错|错误|报错|没有响应|无响应|未响应|无法使用|无法访问|出现问题|出了?问题|不稳定|失败"
)

_ALWAYS = (
    _any_of(
        rf"\b(?:i|we)(?: have|'ve| had)? ?{_UNABLE}\s+{_NOT_FINDING}",
        rf"\b(?:i|we)(?:'m|'ve| am| have| had)? ?(?:\w+ly |still |also )?(?:ran|run|running) into|\b(?:i|we)(?: have"
        rf"|'ve|'m"
        rf"| am| keep)? ?(?:\w+ly )?(?:encountered|experienc(?:ed|ing)|hit|(?:had|have|having|got|getting|received"
        rf"|met))"
        rf" (?:an? |some |the )?(?:[\w-]+ ){{0,2}}{_TROUBLE}\b",
        rf"there (?:was|were|is|are|seems? to be|has been|appears? to be) (?:an? |some )?(?:[\w-]+ ){{0,2}}{_TROUBLE}"
        r"(?=\s*[,.!]|\s*$| (?:with|while|when|trying|getting|accessing|reaching|connecting|retrieving|fetching"
        r"|processing"
        r"|so|and i|on (?:my|our)|at the moment|during))",
        r"(?:due to|because of) (?:an? |some |the )?(?:technical|temporary|internal|connection|network|server|system"
        rf"|service|tool|api)(?: [\w-]+)? {_TROUBLE}\b",
        r"(?:could|can)(?:n't| ?not) be (?:retrieved|loaded|fetched|obtained|accessed|reached|looked up|checked"
        r"|verified)",
        r"(?:data|information|info|results?|details?) (?:is|are) (?:currently|temporarily|unfortunately) "
        r"(?:unavailable|not available)",
    ),
    _any_of(
        rf"(?:^\W*|\b(?:the|this|that|our|my|its|an?)\s+)(?P<kind>(?:[\w-]+\s+){{0,3}}?)(?P<tool>{_TOOLS})\b"
        rf"[^.;:]{{0,40}}?"
        rf"{_BROKE}"
    ),
    _any_of(
        rf"(?:无法|未能|没能|没办法|没法)[^，。；,]{{0,6}}?(?:{_GOT})",
        rf"(?:{_GOT}|请求|执行|操作)[^，。；,]{{0,6}}失败(?!时|后|则|的话|率|的)",
        rf"(?P<service>服务|系统|接口|工具|网络|平台|API|数据库|请求|查询|网站|服务器)[^，。；,]{{0,8}}(?:{_TROUBLED})",
        r"(?:遇到|出现|发生|碰到|出)了?(?:一些|一点|一个|点)?(?:技术|系统|网络|内部|连接)?(?:性)?(?:问题|错误|故障"
        r"|异常)",
    ),
    _any_of(
        r"(?:取得|確認|検索|接続|アクセス|実行|処理|完了|読み込|お調べ|調べること|表示)[^。]{0,8}(?:できません"
        r"|できなかった|失敗し)",
        r"エラーが(?:発生|起き|出)|(?:サービス|システム|サーバー)[^。]{0,12}(?:利用できません|応答し|停止し|障害)",
        r"(?:가져오|불러오|조회하|확인하|처리하|연결하|접근하|검색하|완료하|알려드리)지 못|(?:조회|확인|처리|연결"
        r"|검색)에 실패|오류가 발생",
        r"(?:가져올|조회할|확인할|처리할|연결할|불러올) 수 없|(?:서비스|시스템|서버)[^.]{0,12}(?:사용할 수 없"
        r"|이용할 수 없|응답하지|중단|장애)",
    ),
    _any_of(
        r"\b(?:ich|wir)\b[^.;]{0,12}\b(?:kann|können|konnte"
        r"|konnten)\b[^.;]{0,80}\bnicht\b(?![^.;]{0,30}\b(?:ge)?f[iu]nden\b)",
        r"\b(?:kann|können|konnte|konnten) (?:ich|wir)\b[^.;]{0,80}\bnicht\b(?![^.;]{0,30}\b(?:ge)?f[iu]nden\b)",
        r"\bkonnten?\b[^.;]{0,80}\bnicht\b[^.;]{0,20}\b(?:abgerufen|geladen|erreicht|abgefragt|ermittelt) werden",
        r"\b\w*(?:dienst|service|system|server|suche|anfrage|abfrage|datenbank|schnittstelle|tool|api|verbindung)\b"
        r"[^.;]{0,40}(?:nicht (?:erreichbar|verfügbar)|fehlgeschlagen|ausgefallen|antwortet (?:\w+ )?nicht|gestört)",
        r"\bfehler\b[^.;]{0,12}(?:aufgetreten|beim|bei der)",
    ),
    _any_of(
        r"\b(?:je n'ai pas (?:pu|réussi à)|je ne (?:peux|parviens) pas|nous n'avons pas pu)\b(?! (?:trouver"
        r"|localiser))",
        r"une erreur (?:\w+ )?(?:s'est produite|est survenue)|\b(?:service|système|serveur|outil|requête|recherche"
        r"|connexion)\b[^.;]{0,40}(?:indisponible|ne répond pas|échoué|en panne|injoignable)",
        r"\bno (?:pude|pudimos|he podido|hemos podido|se pudo|fue posible|ha sido posible|logré)\b"
        r"(?! (?:encontrar|hallar|localizar))",
        r"(?:ocurrió|hubo|se produjo) un (?:\w+ )?(?:error|problema)|\b(?:servicio|sistema|servidor|herramienta"
        r"|solicitud"
        r"|consulta|búsqueda)\b[^.;]{0,40}(?:no (?:está )?disponible|no responde|falló|ha fallado|caído)",
        r"\bnão (?:consegui|conseguimos|foi possível|pude)\b(?! (?:encontrar|achar|localizar))",
        r"(?:ocorreu|houve) um (?:\w+ )?(?:erro|problema)|\b(?:serviço|sistema|servidor|ferramenta|solicitação|consulta"
        r"|busca)\b[^.;]{0,40}(?:indisponível|não está disponível|não responde|falhou|fora do ar)",
    ),
)
_OF_CHANGES = (
    _any_of(
        r"(?:could|can)(?:n't| ?not) be [a-z]+(?:ed|t|n|d)\b|(?:was|were|is|are|has|have)(?:n't| not)(?: been)? "
        r"[a-z]+(?:ed|t|n|ade|id)\b|\b(?:fails?|failed|failure|unsuccessful|went wrong)\b",
        r"(?:did|does)(?:n't| not) (?:work|go through|succeed)",
        rf"(?:无法|未能|没能|没办法|没法)[^，。；,]{{0,6}}?(?:{_DID})|(?:{_DID})[^，。；,]{{0,6}}失败(?!时|后|则|的话"
        rf"|率|的)|(?:没有|没|未|不)成功",
        r"(?:予約|送信|キャンセル|更新|保存|登録)[^。]{0,8}(?:できません|できなかった|失敗し)",
        r"(?:예약|전송|취소|저장|등록)[^.]{0,6}(?:못했|실패)",
        r"\bkonnten?\b[^.;]{0,80}\bnicht\b[^.;]{0,20}\bwerden|fehlgeschlagen|a échoué|falló|falhou",
    ),
)
_QUALIFIERS = """
    the this that our my its a an external internal remote online third party underlying current first second last
    latest requested live real time data web api backend search look lookup service tool provider request query
"""
_ANY_TOOL = frozenset(_QUALIFIERS.split())
_IF = _any_of(
    r"\b(?:if|unless|in case|should (?:i|it|the|this|you)|wenn|falls|sollten?|si|s'il)\b",
    r"(?<![例比假])如(?:果|若|您|你|需|无|未|有)|若(?!干)|要是|万一|假如|もし|만약",
)
_QUOTES = _any_of(
    r"\b(?:says?|said|shows?|shown|showed|reads|lists?|listed|states?|stated|indicates?|according to|mentions?"
    r"|mentioned|logged"
    r"|contains?|means?|describes?|explains?)\b|显示|记录|写道|提到|表示|意味着|意思是"
)
_TOOL_SAYS = _any_of(rf"\b(?:{_TOOLS})\b[^.;]{{0,20}}$|(?:系统|服务|接口|工具|平台)[^，。；]{{0,4}}$")
