"""Lists in a text: numbered, bulleted, as a checklist, or as named steps ("Step 1:", "第一步").

In goes a text, out come its lists with the line before each.  Any language and full-width digits; sub-lists belong to
the item above them.  What a list is about isn't decided here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.cases import PlanState

MOST_ITEMS = 50
LONGEST_ITEM = 500
LONGEST_TEXT = 20_000
_LONGEST_LINE = 200
_HAN = "一二三四五六七八九十"


@dataclass(frozen=True, slots=True)
class Item:
    """One item. `number` is None for bullets, `state` that of a checkbox.  `named`: it is called a step."""

    text: str
    number: int | None = None
    state: PlanState | None = None
    named: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A list with at least one item. `before` is the last line with words above it, `after` the next one below.

    Of long lines only the part next to the list is kept.
    """

    items: tuple[Item, ...]
    before: str = ""
    after: str = ""


def lists_in(text: str) -> list[Listed]:
    """The lists of a text in order; code between fences is left out."""
    lines = [unicodedata.normalize("NFKC", line) for line in _FENCED.sub("", text[:LONGEST_TEXT]).splitlines()]
    found: list[Listed] = []
    block: list[Item] = []
    indent, before = 0, ""
    for line in [*lines, ""]:
        item, depth = _item(line), len(line) - len(line.lstrip())
        if item is not None and (not block or (depth <= indent and _goes_on(block[-1], item))):
            if not block:
                indent = depth
            block.append(item)
        elif block and line.strip() and depth > indent:
            block[-1] = _longer(block[-1], line)
        elif line.strip():
            if block:
                found.append(_listed(block, before, line.strip()[:_LONGEST_LINE] if item is None else ""))
                before = ""
            block = [item] if item is not None else []
            indent = depth
            if item is None:
                before = line.strip()[-_LONGEST_LINE:]
    if block:
        found.append(_listed(block, before, ""))
    return found


def named_steps_in(text: str) -> list[Item]:
    """Steps that are named within a line ("第一步查天气，第二步订票"); empty where fewer than two follow each other."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST_TEXT])
    marks = list(_NAMED_INLINE.finditer(plain))
    if len(marks) < 2:
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(plain)]
    steps = []
    for mark, end in zip(marks, ends, strict=True):
        words = plain[mark.end() : end].split("\n")[0].strip(" ,，;；。.、:：-—")
        if words and not _OVER.match(words):
            steps.append(Item(text=words[:LONGEST_ITEM], number=number_of(mark.group(1) or mark.group(2)), named=True))
    numbers = [step.number for step in steps]
    return steps if len(steps) > 1 and numbers == list(range(1, len(steps) + 1)) else []


def number_of(digits: str) -> int:
    """The number in digits or in Chinese numerals up to 99; 0 where it is none."""
    if digits.isdecimal():
        return int(digits)
    tens, ten, ones = digits.rpartition("十")
    if not ten:
        return _HAN.find(digits) + 1
    return (_HAN.find(tens) + 1 if tens else 1) * 10 + (_HAN.find(ones) + 1 if ones else 0)


def _item(line: str) -> Item | None:
    if (named := _NAMED.match(line)) is not None:
        digits = next(group for group in named.groups()[:-1] if group)
        return Item(text=_plain(named.groups()[-1]), number=number_of(digits), named=True)
    if (numbered := _NUMBERED.match(line)) is not None:
        return Item(
            text=_plain(numbered.group(3)), number=number_of(numbered.group(1)), state=_state(numbered.group(2))
        )
    if (bullet := _BULLET.match(line) or _BOXED.match(line)) is not None:
        return Item(text=_plain(bullet.group(2)), state=_state(bullet.group(1)))
    return None


def _goes_on(last: Item, item: Item) -> bool:
    if last.number is None or item.number is None:
        return last.number is None and item.number is None
    return item.number == last.number + 1


def _longer(item: Item, line: str) -> Item:
    text = f"{item.text} {_plain(line.strip())}"[:LONGEST_ITEM]
    return Item(text=text, number=item.number, state=item.state, named=item.named)


def _listed(block: list[Item], before: str, after: str) -> Listed:
    return Listed(tuple(item for item in block[:MOST_ITEMS] if item.text), before, after)


def _plain(text: str) -> str:
    return _EMPHASIS.sub("", text).strip()[:LONGEST_ITEM]


def _state(mark: str | None) -> PlanState | None:
    if mark is None:
        return None
    return _BOXES.get(mark.lower(), PlanState.PENDING)


def paragraphs(text: str) -> Iterator[str]:
    """The parts of a text between blank lines, code between fences left out."""
    for part in re.split(r"\n\s*\n", _FENCED.sub("", text[:LONGEST_TEXT])):
        if part.strip():
            yield part


_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__")
_BOX = r"(?:\[([ xX~/\->]?)\]\s*)?"
_NUMBERED = re.compile(rf"\s*(?:\*\*)?\(?(\d{{1,2}}|[{_HAN}]{{1,3}})\s*[.):、](?!\d)\s*{_BOX}(\S.*)")
_BULLET = re.compile(rf"\s*[-*•‣◦–●▪]\s+{_BOX}(\S.*)")
_BOXED = re.compile(r"\s*\[([ xX~/\->])\]\s*(\S.*)")
_NAMED = re.compile(
    rf"[\s#*_>]*(?:(?:step|schritt|étape|etape|paso|passo|etapa|шаг|ステップ|단계|stap|krok)\s*(\d{{1,2}})\s*[*_]*\s*[:.)\-–—]"
    rf"|(?:步骤|步驟|阶段)\s*([{_HAN}\d]{{1,3}})\s*[*_]*\s*[::.、]"
    rf"|第\s*([{_HAN}\d]{{1,3}})\s*(?:步骤|步驟|步|阶段|ステップ)\s*[*_]*\s*[::,，、.]?)"
    r"[*_\s]*(\S.*)",
    re.IGNORECASE,
)
_NAMED_INLINE = re.compile(
    rf"第\s*([{_HAN}\d]{{1,3}})\s*(?:步骤|步驟|步)\s*[::,，、]?|\bstep\s+(\d{{1,2}})\s*[:)\-–—]", re.IGNORECASE
)
_OVER = re.compile(r"(?:已|完成|done\b|finished\b|complete)", re.IGNORECASE)
_BOXES = {"x": PlanState.COMPLETED, "~": PlanState.IN_PROGRESS, "/": PlanState.IN_PROGRESS, ">": PlanState.IN_PROGRESS}
_BOXES["-"] = PlanState.CANCELLED
