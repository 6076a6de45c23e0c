"""Plans that an agent announces in words: "Plan:\\n1. …", "I'll do the following: …", "首先…然后…最后…".

In goes what a model said before it acted, out come the steps it says it will take; none where a list may be anything
else: options, findings, requirements, questions, a plan that was asked for as the answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import orjson

from evaluators.cases import PlanState, PlanStep
from evaluators.plans.kept import steps_in_value
from evaluators.plans.listed import LONGEST_ITEM, LONGEST_TEXT, Item, Listed, lists_in, named_steps_in, paragraphs

FEWEST = 2
_LONGEST_JSON = 50_000


def announced_steps(text: str, *, opening: bool) -> tuple[PlanStep, ...]:
    """The steps that a text announces; empty when it announces no plan.

    Args:
        text: what a model said.
        opening: it was said before the agent did anything for this task. Later texts also tell what was found, so that
            only what calls itself a plan counts there.
    """
    text = text.replace("\u2019", "'")
    if (steps := _in_json(text)) is not None:
        return steps
    folded = text[:LONGEST_TEXT].casefold()
    if not opening and not any(word in folded for word in _PLAN_WORDS):
        return ()
    marked = _marked(text) if "plan" in folded else None
    if marked is not None:
        found = [step for part in lists_in(marked) for step in _steps(part.items)]
        return tuple(found) or tuple(_steps(named_steps_in(marked)))
    for listed in lists_in(text) if _LETTER.search(unicodedata.normalize("NFKC", text[:LONGEST_TEXT])) is None else ():
        if _announces(listed, opening) and len(listed.items) >= FEWEST:
            return tuple(_steps(listed.items))
    if not opening:
        return ()
    if named := named_steps_in(text):
        return tuple(_steps(named))
    return next((steps for part in paragraphs(text) if (steps := _sequence(part))), ())


def _steps(items: Sequence[Item]) -> list[PlanStep]:
    return [PlanStep(text=item.text, state=item.state) for item in items]


def _in_json(text: str) -> tuple[PlanStep, ...] | None:
    """The steps of an answer that is a plan as JSON and nothing else; None for any other text."""
    stripped = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not stripped.startswith("{") or len(stripped) > _LONGEST_JSON:
        return None
    try:
        value = orjson.loads(stripped)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or not any(_PLAN_KEY.fullmatch(key) for key in value):
        return ()
    steps = steps_in_value(value)
    return steps if len(steps) >= FEWEST else ()


def _marked(text: str) -> str | None:
    """What stands between marks that a planner of a framework puts round its plan."""
    found = _MARKS.search(text)
    return next(group for group in found.groups() if group is not None) if found is not None else None


def _announces(listed: Listed, opening: bool) -> bool:
    if sum(item.text.rstrip().endswith(("?", "？")) for item in listed.items) * 2 > len(listed.items):
        return False
    if all(item.state is PlanState.COMPLETED for item in listed.items):
        return False
    before = listed.before
    if _FOR_OTHERS.search(before) is not None or _IS_THE_ANSWER.search(before) is not None:
        return False
    if sum(_YOURS.match(item.text) is not None for item in listed.items) * 2 > len(listed.items):
        return False
    if _PLAN.search(before) is not None:
        return True
    if not opening:
        return False
    if all(item.named for item in listed.items) or _INTENT.search(before) is not None:
        return True
    return not before and all(item.number for item in listed.items) and _BEGINS.search(listed.after) is not None


def _sequence(paragraph: str) -> tuple[PlanStep, ...]:
    """The steps of a sentence that strings them together: first …, then …, finally …."""
    plain = unicodedata.normalize("NFKC", paragraph)
    for opening, following, intent in _SEQUENCES:
        first = opening.search(plain)
        if first is None or _PAST.search(plain[: first.end() + 12]) is not None:
            continue
        start = re.split(_SENTENCE_END, plain[: first.start()])[-1]
        rest = plain[first.end() :]
        announced = plain[: first.end()] + re.split(_SENTENCE_END, rest)[0]
        if intent is not None and intent.search(announced) is None:
            continue
        if _SOMEBODY_ELSES.search(start + re.split(_SENTENCE_END, rest)[0]) is not None:
            continue
        said = start + rest
        parts = [part for part in following.split(said) if part is not None]
        if intent is not None:
            parts[0] = intent.split(parts[0])[-1]
        steps = [step for part in parts if (step := _clause(part))]
        if len(steps) >= FEWEST:
            return tuple(PlanStep(text=step) for step in steps)
    return ()


def _clause(part: str) -> str:
    words = _LEADING.sub("", re.split(r"[.!?。!?\n](?:\s|$)|[。！？]", part.strip(" ,，;；、"))[0])
    words = words.strip(" ,，;；、.。:")
    return words[:LONGEST_ITEM] if len(words) > 1 else ""


_PLAN_KEY = re.compile(
    r"plan|plans|steps|plan_?steps|todos?|tasks|sub_?tasks|list_of_plans_per_task|计划|步骤", re.IGNORECASE
)
_MARKS = re.compile(
    r"/\*(?:RE)?PLANNING\*/(.*?)(?:/\*[A-Z_]+\*/|\Z)|<(?:plan|planning)>(.*?)(?:</(?:plan|planning)>|\Z)"
    r"|#+\s*(?:\d\.\s*)?(?:updated |revised |new )?plan\s*\n(.*?)<end_plan>",
    re.DOTALL | re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:plan|approach|steps|to-?dos?|todo list|strategy|procedure|roadmap|next steps|plan of (?:action|attack))\b"
    r"|\b(?:vorgehen|schritte|plan d'action|étapes|pasos|passos|etapas|passi|piano|planung)\b|план|шаги"
    r"|计划|計劃|步骤|步驟|流程|思路|方案|打算|計画|手順|ステップ|계획|단계|순서",
    re.IGNORECASE,
)
_PLAN_WORDS = (
    *("plan", "approach", "step", "todo", "to-do", "strategy", "procedure", "roadmap", "vorgehen", "schritt", "étape"),
    *(
        "paso",
        "passo",
        "etapa",
        "passi",
        "piano",
        "план",
        "шаг",
        "计划",
        "計劃",
        "步骤",
        "步驟",
        "流程",
        "思路",
        "方案",
    ),
    *("打算", "計画", "手順", "ステップ", "계획", "단계", "순서"),
)
"""One of these is in every text in which `_PLAN` finds anything; looking for them costs next to nothing."""
# a plan that is somebody else's, or the very thing that was asked for
_FOR_OTHERS = re.compile(
    r"\byou(?:r|'ll| can| could| should| need| must| may| want| asked)?\b|\b(?:options?|results?|found|findings)\b"
    r"|\b(?:travel|trip|meal|diet|study|lesson|training|workout|fitness|payment|pricing|insurance|phone|data|health"
    r"|subscription|floor|business|marketing|treatment|savings|retirement|project|existing|current)[- ]plans?\b"
    r"|\bplan (?:is|was|has been|includes|costs|covers)\b|\bitinerary\b|\bsteps (?:done|taken|completed|so far)\b"
    r"|您的|你的|您可以|你可以|行程|旅行计划|旅游计划|学习计划|套餐|选项|结果|已完成|已经",
    re.IGNORECASE,
)
# steps of the matter itself: how to migrate, a campaign, the process of a company
_IS_THE_ANSWER = re.compile(
    r"\bhow to\b|\bsteps (?:for|in|of)\b|\bsteps to\b(?!.{0,30}\b(?:task|request|goal|question|this)\b)"
    r"|\b(?!(?:implementation|investigation|debug(?:ging)?|analysis|research|test(?:ing)?|verification|refactoring"
    r"|coding|the|these|those|this|following|next|my|our|few|main|planned|execution|action|necessary|required|first"
    r"|concrete|individual|key|basic|high-level|detailed|several|some|two|three|four|five|six|todo|work|plan|and|of|in"
    r"|with|by|take|follow|are|as|outline|my)\b)[a-z]+ steps\s*[:.]?\s*$"
    r"|\bplan for (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bagenda\b"
    r"|(?:退款|审批|申请|报销|注册|办理|操作|安装|业务|使用|处理)(?:流程|步骤)|解决方案",
    re.IGNORECASE,
)
# what is asked of the user
_YOURS = re.compile(r"(?:your|number of|preferred|any)\b|您的|你的", re.IGNORECASE)
_LETTER = re.compile(
    r"^(?:>\s*)?(?:dear|hi|hello|hey|sehr geehrte\w*|liebe[rs]?|bonjour|cher|chère|estimad[oa]s?"
    r"|hola)\b[^\n]{0,40},\s*$"
    r"|^(?:尊敬的|亲爱的)[^\n]{0,20}[:,]\s*$|^(?:subject|betreff|主题)\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_INTENT = re.compile(
    r"\b(?:i'?ll|i will|i'?m going|i am going|let me|let's|i (?:need to|have to|want to|intend)"
    r"|we'?ll|we will|we need to|we have to)\b(?:[^:]{0,40}\b(?:break (?:this|it) down|following|as follows"
    r"|in (?:this )?order|this|these "
    r"things|step by step|need|have|to|do|first|proceed))?\s*:?\s*$"
    r"|\b(?:what|how) i(?:'?ll| will| am going to|'m going to)\b[^:]{0,30}:?\s*$"
    r"|(?:我(?:将|会|要|需要|来|准备)|让我|接下来|下面)[^。:]{0,12}[:]\s*$"
    r"|\b(?:ich werde|je vais|voy a|vou|ich muss|il faut|tengo que|ho intenzione di)\b[^:]{0,40}:\s*$"
    r"|(?:これから|以下の(?:通り|順))[^。:]{0,16}[:]?\s*$",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\b(?:start(?:ing)?|begin(?:ning)?|let me|let's|first|i'?ll)\b|开始|先|第一步|首先|まず|먼저",
    re.IGNORECASE,
)
_SENTENCE_END = r"[.!?。！？\n]"
# what a document says, what the user is told to do, what happened to somebody
_SOMEBODY_ELSES = re.compile(
    r"\b(?:says|states|describes|explains|according to|you (?:should|need|must|can|have to|will))\b"
    r"|(?:您|你)(?:需要|可以|应该|要|得|先|必须)|写道|规定|说明"
    r"|\b(?:sie|du|man) (?:müssen|musst|muss|sollten?|solltest|können|kannst|kann)\b"
    r"|\b(?:müssen|musst|muss|sollten?|solltest|können|kannst|kann) (?:sie|du|man)\b"
    r"|\b(?:vous devez|vous pouvez|tu dois|il faut|debe[ns]?|puedes?|você (?:deve|pode))\b|してください|하세요",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:and|so|okay|ok|sure|well|great)[,!]?\s+)*(?:i'?ll|i will|let me|i'm going to|i am going to|let's"
    r"|i need to|i have to|we'?ll|we will)\s+|^(?:好的|没问题|当然|可以)?[,。!]?\s*(?:我(?:会|将|来|们)?)+\s*",
    re.IGNORECASE,
)
_PAST = re.compile(r"已经|已|过了|\balready\b|\bhave\b|\bwas\b|\bdid\b", re.IGNORECASE)
_WILL = re.compile(
    r"\b(?:i'?ll|i will|let me|i'm going to|i am going to|let's|i need to|i have to|"
    r"we'll|we will|i plan to)\b",
    re.IGNORECASE,
)
_SEQUENCES: tuple[tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        re.compile(r"\bfirst(?:ly| of all)?\b,?|\bstart by\b", re.IGNORECASE),
        re.compile(
            r"[,;.]?\s+(?:and\s+)?(?:then|next|after that|afterwards|finally|lastly|second(?:ly)?|third(?:ly)?)\b,?"
            r"|[,;]\s+and\s+(?=\w)",
            re.IGNORECASE,
        ),
        _WILL,
    ),
    (
        re.compile(r"首先|(?<![首预优事])先(?=[\u4e00-\u9fff])"),
        re.compile(
            r"[,，;；。\s]*(?:然后再|然后|接着|接下来|随后|之后再|之后|其次|最后再|最后|最终"
            r"|(?<![一])再(?=[\u4e00-\u9fff]))"
        ),
        None,
    ),
    (
        re.compile(r"\bzuerst\b|\bzunächst\b", re.IGNORECASE),
        re.compile(r"[,;.]?\s+(?:und\s+)?(?:dann|danach|anschließend|schließlich|zuletzt)\b,?", re.IGNORECASE),
        None,
    ),
    (
        re.compile(r"\bd'abord\b|\bpremièrement\b", re.IGNORECASE),
        re.compile(r"[,;.]?\s+(?:et\s+)?(?:ensuite|puis|enfin|après)\b,?", re.IGNORECASE),
        None,
    ),
    (
        re.compile(r"\bprimero\b|\bprimeiro\b|\bin primo luogo\b", re.IGNORECASE),
        re.compile(
            r"[,;.]?\s+(?:[ye]\s+)?(?:luego|después|finalmente|por último|depois|em seguida|por fim|poi|infine)\b,?",
            re.IGNORECASE,
        ),
        None,
    ),
    (
        re.compile(r"сначала", re.IGNORECASE),
        re.compile(r"[,;.]?\s+(?:а |и )?(?:затем|потом|после этого|наконец)\b,?", re.IGNORECASE),
        None,
    ),
    (re.compile(r"まず"), re.compile(r"[、。]?(?:次に|その後|それから|最後に)[、]?"), None),
    (re.compile(r"먼저"), re.compile(r"[,.]?\s+(?:그다음에?|그 다음에?|다음으로|그리고 나서|마지막으로)"), None),
)
