"""What well-known scanners find in an artifact: candidates for a judge, and the few things that are beyond doubt.

In: the files.  Out: `Hit`s.  Certain are secrets of a format that nothing else has, and passwords written out in code;
everything else is a candidate.  detect-secrets and bandit are used where they are installed (`pip install
spanjudge[scanners]`).  They read the texts in memory: nothing is executed, written, fetched or verified, and how much
they are given is bounded.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from evaluators.qa_judge.artifact import File
from evaluators.qa_judge.kinds import ArtifactType, code_blocks, is_python, type_of
from evaluators.rules.secrets import PRIVATE_KEY, Found, Strength, find_secrets

MOST_HITS = 20
MAX_SCANNED_CHARS = 100_000
MAX_SCANNED_BY_OTHERS = 400_000
"""So many characters of a file are looked at, and so many of all files by scanners that aren't ours."""

_LONGEST_LINE = 2_000

_PASSWORD = re.compile(
    r"""(?<![\w.-])["']?(?P<name>(?:[a-z]+[_-])*(?:password|passwd|passwort|pwd|密码))["']?\s*(?::=|=(?!=)|:)\s*"""
    r"""(?P<quote>["'])(?P<value>[^"'\s<>{}$]{6,80})(?P=quote)""",
    re.IGNORECASE,
)
# What stands where a password would and is none: placeholders, messages, types, rules of validation, names, digests.
_PLACEHOLDER = re.compile(
    r"(?i)pass(?:word|wd|phrase)?\d*$|change|example|sample|placeholder|your|dummy|test|fake|secret$|xxx|\*\*\*|\.\.\.|todo|"
    r"replace|insert|redacted|hidden|required|invalid|incorrect|forgot|reset|enter|must|env|null|none|undefined|foo|bar|"
    r"char\(|text|string|type|field|input|column|label|hash|crypt|argon|sha\d|md5|m(?:in|ax)(?:imum)?[:=_-]|[|()]|://|"
    r"^[0-9a-f]{16,}$|^[a-z]+(?:[._-][a-z\d]+)+$|密码|口令|示例"
)
_REFERENCE = re.compile(r"[a-z][\w.+-]*:[\w/.-]+(?::[\w/.-]+)*")
"""What names a place where a password is kept, such as `aws:ssm:/db` or `file:/run/secrets/db`."""

# What isn't operated, or only on its author's own machine; and prose about it.
_NOT_OPERATED = re.compile(
    r"(?i)(?:^|[/_.-])(?:tests?|specs?|examples?|samples?|fixtures?|mocks?|demos?|docs?|dev|local|compose|readme)"
    r"(?:[/_.-]|$)|\.(?:md|markdown|rst|adoc|txt)$"
)
# Keys that may be public by design or long expired.
_MAY_BE_HARMLESS = frozenset({"jwt", "google_key"})
_FOR_TESTS = re.compile(r"[sr]k_test_")
_SHORTEST_PRIVATE_KEY = 60
_BANDIT = {
    "B102": "code_injection",
    "B301": "unsafe_deserialization",
    "B302": "unsafe_deserialization",
    "B306": "path_traversal",
    "B307": "code_injection",
    "B311": "insecure_random",
    "B313": "xml_injection",
    "B314": "xml_injection",
    "B318": "xml_injection",
    "B319": "xml_injection",
    "B320": "xml_injection",
    "B202": "path_traversal",
    "B201": "debug_mode",
    "B501": "insecure_transport",
    "B506": "unsafe_deserialization",
    "B602": "command_injection",
    "B604": "command_injection",
    "B605": "command_injection",
    "B608": "sql_injection",
    "B609": "command_injection",
    "B614": "unsafe_deserialization",
    "B703": "xss",
    "B704": "xss",
    "B105": "hardcoded_secret",
    "B106": "hardcoded_secret",
    "B107": "hardcoded_secret",
}
_SECRET_PLUGINS = (
    "KeywordDetector",
    "BasicAuthDetector",
    "JwtTokenDetector",
    "PrivateKeyDetector",
    "AzureStorageKeyDetector",
)
# What a line has to hold for one of these to report it; most lines don't.
_MAY_HOLD_SECRET = re.compile(r"(?i)key|pass|pwd|secret|contrase|://|eyJ|BEGIN")
_SECRET_FILTERS = (
    "is_sequential_string",
    "is_templated_secret",
    "is_potential_uuid",
    "is_prefixed_with_dollar_sign",
    "is_indirect_reference",
    "is_not_alphanumeric_string",
    "is_swagger_file",
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in a file where a check may be violated, or is (`certain`). `line` counts from 1; `words` stand there."""

    check: str
    file: str
    line: int
    words: str
    by: str
    certain: bool = False

    @property
    def told(self) -> str:
        """Who says so and where, without the words."""
        return f"{self.by} in {self.file}:{self.line}"


def installed() -> tuple[str, ...]:
    """The scanners that are there, with no regard to whether they are to be used."""
    return tuple(name for name in ("bandit", "detect_secrets") if _is_there(name))


def scan(files: tuple[File, ...], *, with_scanners: bool) -> tuple[Hit, ...]:
    """All hits, certain ones first, each place of a check once."""
    found: dict[tuple[str, str, int], Hit] = {}
    for file in files:
        text = file.text[:MAX_SCANNED_CHARS]
        for hit in (*_secrets(file, text), *_passwords(file, text)):
            found.setdefault((hit.check, hit.file, hit.line), hit)
    room = MAX_SCANNED_BY_OTHERS
    for file in files if with_scanners else ():
        text = file.text[: min(MAX_SCANNED_CHARS, room)]
        room -= len(text)
        for hit in (*_by_detect_secrets(file, text), *_by_bandit(file, text)):
            found.setdefault((hit.check, hit.file, hit.line), hit)
    return tuple(sorted(found.values(), key=lambda hit: not hit.certain)[:MOST_HITS])


def _secrets(file: File, text: str) -> Iterator[Hit]:
    """Keys of known formats. Personal data is no secret of the artifact."""
    for found in find_secrets(text):
        if not found.personal:
            certain = found.strength is Strength.CERTAIN and _is_beyond_doubt(found, text, file)
            yield _hit(
                "hardcoded_secret", file, text, found.start, f"A key of a known format ({found.kind})", certain=certain
            )


def _is_beyond_doubt(found: Found, text: str, file: File) -> bool:
    """Whether a key of a known format can only be one that works for somebody."""
    words = text[found.start : found.end]
    if found.kind in _MAY_BE_HARMLESS or _FOR_TESTS.match(words) or _NOT_OPERATED.search(file.path or ""):
        return False
    if found.kind == PRIVATE_KEY:
        body = "".join(words.replace("\\n", "\n").partition("KEY-----")[2].partition("-----END")[0].split())
        return len(body) >= _SHORTEST_PRIVATE_KEY and "..." not in body
    return True


def _passwords(file: File, text: str) -> Iterator[Hit]:
    """Passwords assigned as literals, in what is to be operated: neither prose nor tests nor examples."""
    for start, code in _code(file, text):
        for found in _PASSWORD.finditer(code):
            value = found["value"]
            varied = any(map(str.isalpha, value)) and any(not one.isalpha() for one in value)
            certain = (
                varied
                and not _PLACEHOLDER.search(value)
                and not _REFERENCE.fullmatch(value)
                # in SQL it may be compared as well as set
                and not _NOT_OPERATED.search(file.path or "")
                and not (file.path or "").lower().endswith(".sql")
            )
            at = start + found.start("name")
            yield _hit("hardcoded_secret", file, text, at, "A literal password", certain=certain)


def _code(file: File, text: str) -> list[tuple[int, str]]:
    """The parts of a file that are code or data, each with where it begins."""
    blocks = code_blocks(text) if file.path is None else []
    is_code = type_of([(file.path, text)]) in (ArtifactType.CODE, ArtifactType.DATA)
    return blocks or ([(0, text)] if is_code else [])


def _by_detect_secrets(file: File, text: str) -> Iterator[Hit]:
    if not _is_there("detect_secrets"):
        return
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import transient_settings

    settings = {
        "plugins_used": [{"name": name} for name in _SECRET_PLUGINS],
        # These alone: by default it would also ask the providers whether a key works.
        "filters_used": [{"path": f"detect_secrets.filters.heuristic.{name}"} for name in _SECRET_FILTERS],
    }
    at = 0
    with transient_settings(settings):
        for line in text.splitlines(keepends=True):
            shown = line[:_LONGEST_LINE]
            kinds = {found.type for found in scan_line(shown)} if _MAY_HOLD_SECRET.search(shown) else set()
            for kind in sorted(kinds):
                yield _hit("hardcoded_secret", file, text, at, f"detect-secrets reports {kind}")
            at += len(line)


def _by_bandit(file: File, text: str) -> Iterator[Hit]:
    if not _is_there("bandit"):
        return
    for start, code in _code(file, text):
        if is_python(file.path, code):
            for check, at, test_id in _linted(code):
                yield _hit(check, file, text, start + at, f"bandit reports {test_id}")


def _linted(code: str) -> Iterator[tuple[str, int, str]]:
    """What bandit says of Python: the check, the place, and the name that it has for it."""
    # It logs names from what it reads, and one of its libraries warns its programmers.
    logging.getLogger("bandit").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from bandit.core import config, manager

        # Marks by which an author silences it don't count.
        linter = manager.BanditManager(config.BanditConfig(), "file", ignore_nosec=True)
    starts = [0]
    for line in code.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    try:
        # The way by which it reads files, for a text that is none.
        linter._parse_file("artifact.py", io.BytesIO(code.encode("utf-8", "replace")), [])
    except (RecursionError, MemoryError, ValueError):
        return
    for issue in linter.get_issue_list():
        check = _BANDIT.get(issue.test_id)
        if check is not None:
            yield check, starts[min(max(issue.lineno, 1), len(starts)) - 1], issue.test_id


def _hit(check: str, file: File, text: str, at: int, by: str, *, certain: bool = False) -> Hit:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    words = text[start : end if end >= 0 else len(text)].strip()[:_LONGEST_LINE]
    return Hit(check, file.name, text.count("\n", 0, at) + 1, words, by, certain)


@cache
def _is_there(name: str) -> bool:
    return find_spec(name) is not None
