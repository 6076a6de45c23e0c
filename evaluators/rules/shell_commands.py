"""Whether a shell's command line only looks at things.

In goes the command line, out comes True only if every program in it is one that changes nothing, and nothing is written
to a file.  Whatever can't be seen through (substitutions, programs that run others, quotes that don't close) isn't
known to only look, so that the answer is False.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

_LONGEST = 2_000
_SEPARATORS = frozenset({"|", "||", "&&", ";"})
_HARMLESS_REDIRECTS = re.compile(r"(?:\d|&)?>{1,2}\s*/dev/null\b|\d>&\d|\d?<\s*(?=[\w./~-])")
_LOOKING = """
    basename cat cd cmp column comm cut date df diff dirname du echo egrep fgrep file find git grep head id jq ls
    md5sum nl printf pwd readlink realpath rg sed sha1sum sha256sum sort stat tac tail test tr tree true type uname
    uniq wc which whoami
"""
_PROGRAMS = frozenset(_LOOKING.split())
_GIT = frozenset({"blame", "diff", "grep", "log", "ls-files", "rev-parse", "shortlog", "show", "status"})
_FIND_ACTIONS = ("-delete", "-exec", "-ok", "-fprint", "-fls")
_WRITING_OPTIONS = {
    "sort": ("-o", "--output"),
    "date": ("-s", "--set"),
    "tree": ("-o",),
    "git": ("--output", "-O"),
    "rg": ("--pre",),
}
_SED_PRINT = re.compile(r"\d*(?:,(?:\d+|\$))?p|/[^/]*/p")


def only_reads(command: str) -> bool:
    """Whether running `command` in a shell is known to change nothing."""
    if len(command) > _LONGEST or "`" in command or "$(" in command:
        return False
    line = _HARMLESS_REDIRECTS.sub(" ", command.strip().replace("\n", " ; "))
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        parts = _parts(list(lexer))
    except ValueError:
        return False
    return bool(parts) and all(_is_look(part) for part in parts)


def _parts(words: Sequence[str]) -> list[list[str]]:
    """The single commands of a line; an empty list when it does anything but chain them."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _SEPARATORS:
            parts.append([])
        elif word and set(word) <= set("|&;<>()"):
            return []
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def _is_look(words: Sequence[str]) -> bool:
    program, options = words[0].rpartition("/")[2], words[1:]
    if program not in _PROGRAMS:
        return False
    if any(option.startswith(_WRITING_OPTIONS.get(program, ())) for option in options):
        return False
    if program == "find":
        return not any(option.startswith(_FIND_ACTIONS) for option in options)
    if program == "git":
        return bool(options) and options[0] in _GIT
    if program == "sed":
        return len(options) >= 2 and options[0] == "-n" and _SED_PRINT.fullmatch(options[1]) is not None
    if program == "uniq":
        return sum(not option.startswith("-") for option in options) <= 1
    return True
