"""Draws the picture of the README, docs/images/demo.svg, from the packaged traces as they are judged now.

.venv/bin/python examples/picture.py
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from collector.commands.demo import judged_trees, print_trees

TARGET = Path(__file__).parents[1] / "docs" / "images" / "demo.svg"
COLUMNS = 108
SHOWN = (0, 1, 2, 3, 6)

THEME = TerminalTheme(
    background=(24, 26, 31),
    foreground=(208, 211, 217),
    normal=[
        (24, 26, 31),
        (240, 98, 98),
        (110, 190, 120),
        (220, 180, 90),
        (100, 160, 235),
        (190, 140, 220),
        (90, 185, 195),
        (208, 211, 217),
    ],
)

# Like rich's own format, without fonts from the network.
SVG_FORMAT = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture() -> str:
    """The picture as SVG."""
    console = Console(
        file=io.StringIO(), record=True, width=COLUMNS, highlight=False, force_terminal=True, color_system="truecolor"
    )
    trees = judged_trees()
    print_trees(console, [trees[number] for number in SHOWN])
    return console.export_svg(title="spanjudge", theme=THEME, code_format=SVG_FORMAT, unique_id="demo")


def main() -> int:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(picture(), encoding="utf-8")
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
