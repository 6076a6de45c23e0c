"""Lines of JSON hold what was said, and do nothing to a terminal."""

from __future__ import annotations

import json
import sys
import unicodedata

from collector.commands.reporting import json_line


def test_no_character_in_a_line_of_json_acts_on_a_terminal() -> None:
    value = {"said": "".join(map(chr, range(0x3000))) + "\u2028 in \u00fcber \u4f60"}
    line = json_line(value).decode()  # type: ignore[arg-type]
    assert json.loads(line) == value
    controls = {char for char in line.removesuffix("\n") if unicodedata.category(char) == "Cc"}
    turning = {char for char in line if unicodedata.bidirectional(char) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI"}}
    assert (controls, turning) == (set(), set())
    assert "\u00fcber \u4f60" in line


def test_what_is_nested_deeper_than_json_is_written_ends_there() -> None:
    deep: dict[str, object] = {}
    for _ in range(sys.getrecursionlimit() // 3):
        deep = {"a": deep}
    assert json_line(deep).count(b'{"a":') >= 100  # type: ignore[arg-type]
