"""A rubric written for people: Markdown with headings, checklists and tables, in English or Chinese.

In: the text.  Out: the same value that a rubric in YAML has, with the line of every key, for the same model to check.
What is known by its form becomes data; everything else is guidance for the judge, word for word:

* keys between `---` lines at the top, or `name` and `description` as rows of a table before the first heading
* a table with a column for codes and one for severity: checks; with one for points as well, checks that cost them
* a table with a column for what is deducted and one for points: checks without a code, or the price of a check that has
  the same name.  Rows that cost their points per step are rules for every step: skipped, done badly, out of order.
  Points may be a range (-20~-40); with a plus before them they are a bonus
* a table whose first column is steps: the steps, and what shows that one was skipped
* points of a list below a heading that says critical: critical checks without a price
* `name: text` points below a heading for input: the fields that are read
* a number of points after "threshold" or 通过阈值
* the keys of the last JSON object: the fields of the report, as far as their names say what stands there

Tables are of Markdown, with or without bars at the edges, or separated by tabs; headings have `#`, or are short lines
by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from evaluators.rubric.texts import object_in
from evaluators.yaml_text import Path as KeyPath
from evaluators.yaml_text import YamlError, YamlFault, read_yaml

_FENCE = "---"
_NAMED = ("name", "description")
_LONGEST_HEADING = 30
_BULLET = re.compile(r"^\s*(?:[-*+•·]|\d+[.、)])\s+(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"^[\s:|-]+$")
_BAR = re.compile(r"(?<!\\)\|")
_THRESHOLD = re.compile(r"(?:通过阈值|阈值|及格线|\bthreshold\b)\D{0,12}(\d+(?:\.\d+)?)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:~|\uff5e|\u2013|\u2014|-|至|到|\bto\b)\s*[-+\u2212]?\s*(\d+(?:\.\d+)?)")
_FIELD = re.compile(r"^[`*]*([a-z][a-z0-9_]*)[`*]*\s*[::：]\s*(.*)$")
_CODES = re.compile(r"^(?:编号|代码|code|id)$", re.IGNORECASE)
_SEVERITIES = re.compile(r"^(?:严重程度|严重级别|严重性|级别|severity)$", re.IGNORECASE)
_WHAT = re.compile(r"^(?:违规行为|违规|violation|what|check)$", re.IGNORECASE)
_DEDUCTED = re.compile(r"^(?:扣分项|deduction|deducted for)$", re.IGNORECASE)
_POINTS = re.compile(r"^(?:扣分|分值|points|deduct)$", re.IGNORECASE)
_STEPS = re.compile(r"^(?:步骤|steps?)$", re.IGNORECASE)
_INPUT = re.compile(r"输入|\binputs?\b", re.IGNORECASE)
_CRITICAL = re.compile(r"[((（]\s*(?:critical|严重)\s*[))）]", re.IGNORECASE)
_SKIPPED = re.compile(r"跳过|skip", re.IGNORECASE)
_ORDER = re.compile(r"顺序|次序|order", re.IGNORECASE)
_POOR = re.compile(r"质量差|质量不|poor|badly", re.IGNORECASE)
_PER_STEP = re.compile(r"/\s*步|per step|each step", re.IGNORECASE)
_PER_ITEM = re.compile(r"/\s*(?:处|个|次|项)|per item|\beach\b", re.IGNORECASE)
_ONE_OF = re.compile(r"^(?:一处|一个|一次|每|each|every|per|an?\s)", re.IGNORECASE)
_SEVERITY_WORDS = {
    "致命": "critical",
    "严重": "critical",
    "重大": "major",
    "主要": "major",
    "一般": "minor",
    "轻微": "minor",
    "次要": "minor",
}
_Points: TypeAlias = float | dict[str, float]
"""A number, or the ends of a range."""

_REPORT: Mapping[str, dict[str, object]] = {
    "dimension": {"value": "name"},
    "score": {"value": "points"},
    "passed": {"value": "passed"},
    "summary": {"value": "summary"},
    "suggestions": {"value": "suggestions"},
    "issues": {"issues": {}},
    "critical_issues": {"issues": {"severity": "critical"}},
}
_STEP_REPORT: Mapping[str, dict[str, object]] = {
    "steps_completed": {"steps": ["done", "poor"]},
    "steps_skipped": {"steps": ["skipped"]},
    "steps_out_of_order": {"steps": ["out_of_order"]},
    "execution_issues": {"issues": {"state": "poor"}},
}


def read_markdown(text: str) -> tuple[dict[str, object], Mapping[KeyPath, int]]:
    """The rubric that the text describes, and the line of each key, as far as it has one.

    Raises:
        YamlError: the keys at the top aren't YAML, or nothing in it is a check.
    """
    rows = text.splitlines()
    top, lines, begin = _front_matter(rows)
    document = _Document(top, lines)
    for block in _blocks(rows, begin):
        document.take(block)
    value = document.value()
    if not value["checks"]:
        what = "no table or list of checks was recognised in it"
        remedy = "give it a table with the columns code, violation and severity, or deduction and points"
        raise YamlError([YamlFault((), what, remedy)])
    return value, lines


@dataclass(slots=True)
class _Block:
    """Neighbouring lines of one kind: `heading`, `table` (rows of cells), `list` or `text`; `line` from 1."""

    kind: str
    line: int
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def _front_matter(rows: list[str]) -> tuple[dict[str, object], dict[KeyPath, int], int]:
    if not rows or rows[0].rstrip() != _FENCE:
        return {}, {}, 0
    end = next((at for at, row in enumerate(rows[1:], 1) if row.rstrip() == _FENCE), None)
    if end is None:
        what = f"the keys at the top are not closed by a line {_FENCE}"
        raise YamlError([YamlFault((), what, f"write {_FENCE} below the last of them", 1)])
    # a blank line in place of the first keeps the numbers of lines
    read = read_yaml("\n".join(["", *rows[1:end]]))
    if not isinstance(read.value, dict):
        raise YamlError([YamlFault((), "the keys at the top are not a map", "write key: value lines", 1)])
    return dict(read.value), dict(read.lines), end + 1


def _blocks(rows: list[str], begin: int) -> Iterator[_Block]:
    """The blocks of the text; a table in tabs may have blank lines neither before nor after it."""
    block: _Block | None = None
    in_code = False
    barred = _barred(rows, begin)
    for at in range(begin, len(rows)):
        row = rows[at]
        in_code ^= row.lstrip().startswith("```")
        if in_code:
            kind, cells = "text", [row]
        elif at in barred:
            kind, cells = "table", _cells(row)
        else:
            kind, cells = _kind_of(rows, at)
        if kind == "blank":
            if block is not None:
                yield block
                block = None
            continue
        if block is None or block.kind != kind or kind == "heading":
            if block is not None:
                yield block
            block = _Block(kind, at + 1)
        if not (kind == "table" and _RULE.match(row)):
            block.rows.append((at + 1, cells))
    if block is not None:
        yield block


def _barred(rows: list[str], begin: int) -> set[int]:
    """The rows of tables that have no bars at their edges: known by the rule below their head."""
    found: set[int] = set()
    for at in range(begin + 1, len(rows)):
        if "|" in rows[at] and "-" in rows[at] and _RULE.match(rows[at]) and "|" in rows[at - 1]:
            found |= {at - 1, at}
        elif at - 1 in found and "|" in rows[at]:
            found.add(at)
    return found


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|")
    cells = [cell.replace("\\|", "|").strip() for cell in _BAR.split(inner)]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _kind_of(rows: list[str], at: int) -> tuple[str, list[str]]:
    row = rows[at]
    stripped = row.strip()
    if not stripped:
        return "blank", []
    if heading := _HEADING.match(stripped):
        return "heading", [heading.group(1)]
    if stripped.startswith("|"):
        return "table", _cells(stripped)
    if "\t" in stripped:
        return "table", [cell.strip() for cell in stripped.split("\t")]
    if bullet := _BULLET.match(row):
        return "list", [bullet.group(1).strip()]
    alone = (at == 0 or not rows[at - 1].strip()) and (at + 1 == len(rows) or not rows[at + 1].strip())
    if alone and len(stripped) <= _LONGEST_HEADING and not re.search(r"[::：,，.。;；{}]", stripped):
        return "heading", [stripped]
    return "text", [stripped]


class _Document:
    """Collects what blocks say."""

    def __init__(self, top: dict[str, object], lines: dict[KeyPath, int]) -> None:
        self._top = top
        self._lines = lines
        given = top.get("checks")
        self._checks: list[dict[str, object]] = list(given) if isinstance(given, list) else []
        self._bonus: list[dict[str, object]] = []
        self._inputs: list[dict[str, object]] = []
        self._steps: list[tuple[str, str, str, int]] = []
        self._step_rules: list[tuple[str, _Points, int]] = []
        self._guidance: list[str] = []
        self._headings: list[str] = []
        self._named: dict[str, str] = {}
        self._threshold: float | None = None
        self._output: list[str] = []

    def take(self, block: _Block) -> None:
        """One more block."""
        heading = self._headings[-1] if self._headings else ""
        if block.kind == "heading":
            self._headings.append(block.rows[0][1][0])
            self._take_threshold(block.rows[0][1][0], block.line)
            self._guidance.append(f"{block.rows[0][1][0]}:")
        elif block.kind == "table" and self._take_table(block):
            pass
        elif block.kind == "list" and _CRITICAL.search(heading):
            for line, (text,) in block.rows:
                self._check(line, text=text, severity="critical")
        elif block.kind == "list" and _INPUT.search(heading) and self._take_inputs(block):
            pass
        else:
            self._take_text(block)

    def value(self) -> dict[str, object]:
        """The rubric."""
        self._add_step_checks()
        title = self._headings[0] if self._headings else self._named.get("name", "")
        found: dict[str, object] = {
            "name": _id(self._named.get("name", "")) or "rubric",
            "title": title or "Rubric",
            "question": self._named.get("description") or title or "Rubric",
            "guidance": "\n".join(self._guidance).strip() or None,
            "inputs": self._inputs,
            "steps": [{"id": name, "title": title} for name, title, _, _ in self._steps],
            "bonus": self._bonus,
            "output": self._report(),
        }
        if self._threshold is not None:
            found["threshold"] = self._threshold
        return {**{name: one for name, one in found.items() if one}, **self._top, "checks": self._checks}

    def _take_table(self, block: _Block) -> bool:
        if not block.rows:
            return True
        header, rows = block.rows[0][1], block.rows[1:]
        if len(self._headings) < 2 and all(len(cells) == 2 and cells[0] in _NAMED for _, cells in block.rows):
            self._named |= {cells[0]: cells[1] for _, cells in block.rows}
            # what stands above it is the name of the document once more
            self._headings.clear()
            self._guidance.clear()
            return True
        code, severity = _column(header, _CODES), _column(header, _SEVERITIES)
        what, deducted, points = _column(header, _WHAT), _column(header, _DEDUCTED), _column(header, _POINTS)
        rows = [(line, [*cells, *[""] * (len(header) - len(cells))]) for line, cells in rows]
        if code is not None and severity is not None:
            named = what if what is not None else code + 1
            for line, cells in rows:
                price = _points(cells[points]) if points is not None else None
                self._check(
                    line,
                    code=cells[code].strip("`* "),
                    text=cells[named] if named < len(cells) else cells[code],
                    severity=_severity(cells[severity]),
                    **_price(price, cells[points] if points is not None else "", cells[named]),
                )
            return True
        if points is not None and (deducted is not None or what is not None):
            named = deducted if deducted is not None else what or 0
            rest = [at for at in range(len(header)) if at not in (named, points)]
            for line, cells in rows:
                detail = " ".join(filter(None, (cells[at] for at in rest)))
                self._take_deduction(line, cells[named], cells[points], detail)
            return True
        if header and _STEPS.match(header[0]) and len(header) > 1:
            for line, cells in rows:
                self._steps.append((f"s{len(self._steps) + 1}", f"{cells[0]}: {cells[1]}", cells[-1], line))
            return True
        return False

    def _take_deduction(self, line: int, name: str, cost: str, detail: str) -> None:
        price = _points(cost)
        if cost.lstrip().startswith(("+", "\uff0b")) and price is not None:
            self._lines["bonus", len(self._bonus)] = line
            text = f"{name}: {detail}" if detail else name
            self._bonus.append({"id": f"b{len(self._bonus) + 1}", "text": text, "add": price})
            return
        if price is not None and (
            _PER_STEP.search(cost) or (self._steps and (_ORDER.search(name) or _SKIPPED.search(name)))
        ):
            self._step_rules.append((name, price, line))
            return
        same = next((one for one in self._checks if _same(str(one.get("text", "")), name)), None)
        if same is not None and "deduct" not in same:
            same |= {"text": f"{same['text']}. {detail}".rstrip(". "), **_price(price, cost, name)}
            return
        self._check(line, text=f"{name}: {detail}" if detail else name, severity="major", **_price(price, cost, name))

    def _take_inputs(self, block: _Block) -> bool:
        found = [(line, _FIELD.match(text)) for line, (text,) in block.rows]
        if not all(match for _, match in found):
            return False
        for line, match in found:
            if match is not None:
                self._lines["inputs", len(self._inputs)] = line
                self._inputs.append({"name": match.group(1), "about": match.group(2) or match.group(1)})
        return True

    def _take_text(self, block: _Block) -> None:
        lines = [("- " if block.kind == "list" else "") + " | ".join(cells) for _, cells in block.rows]
        text = "\n".join(lines)
        self._take_threshold(text, block.line)
        shown, _ = object_in(text)
        if shown is not None:
            self._output = list(shown)
            return
        self._guidance.append(text)

    def _take_threshold(self, text: str, line: int) -> None:
        if self._threshold is None and (found := _THRESHOLD.search(text)):
            self._threshold = float(found.group(1))
            self._lines.setdefault(("threshold",), line + text.count("\n", 0, found.start()))

    def _check(self, line: int, **told: object) -> None:
        self._lines["checks", len(self._checks)] = line
        self._checks.append({"id": f"v{len(self._checks) + 1}", **told})

    def _add_step_checks(self) -> None:
        """A check for each step and each rule about steps."""
        for name, price, line in self._step_rules:
            if not self._steps:
                self._check(line, text=name, severity="major", deduct=price, per="once")
            state = "skipped" if _SKIPPED.search(name) else "out_of_order" if _ORDER.search(name) else "poor"
            for step, title, sign, _ in self._steps:
                self._lines["checks", len(self._checks)] = line
                told = f"{name} ({title.partition(':')[0]})" + (f": {sign}" if state == "skipped" else "")
                self._checks.append(
                    {
                        "id": f"{step}_{state}",
                        "text": told,
                        "severity": "major",
                        "deduct": price,
                        "per": "step",
                        "step": step,
                        "state": state,
                    }
                )

    def _report(self) -> dict[str, object]:
        known = {**_REPORT, **(_STEP_REPORT if self._steps else {})}
        return {name: known[name] for name in self._output if name in known}


def _column(header: list[str], wanted: re.Pattern[str]) -> int | None:
    return next((at for at, cell in enumerate(header) if wanted.match(cell.strip("*` "))), None)


def _points(cell: str) -> _Points | None:
    if found := _RANGE.search(cell):
        least, most = sorted(map(float, found.groups()))
        return {"least": least, "most": most}
    found = _NUMBER.search(cell)
    return float(found.group()) if found else None


def _price(price: _Points | None, cost: str, name: str) -> dict[str, object]:
    if price is None:
        return {"per": "once"} if not _ONE_OF.match(name) else {}
    return {"deduct": price, "per": "item" if _PER_ITEM.search(cost) or _ONE_OF.match(name) else "once"}


def _severity(cell: str) -> str:
    word = cell.strip("`* ").casefold()
    return _SEVERITY_WORDS.get(word, word)


def _same(one: str, other: str) -> bool:
    return re.sub(r"\W+", "", one).casefold() == re.sub(r"\W+", "", other).casefold() != ""


def _id(name: str) -> str:
    return re.sub(r"\W+", "_", name.strip().casefold()).strip("_")
