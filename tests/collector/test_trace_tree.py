"""How a judged trace looks on a terminal."""

from __future__ import annotations

import io
import itertools

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from rich.console import Console

from collector.exporters.span_view import read_spans
from collector.exporters.trace_rows import MAX_ROWS
from collector.exporters.trace_tree import TraceTree, Verbosity
from tests.collector.console_spans import TRACE_ID, bad, good, request, span


def shown(*spans: Span, width: int = 100, verbosity: Verbosity = Verbosity.NORMAL, terminal: bool = False) -> list[str]:
    output = io.StringIO()
    console = Console(file=output, width=width, highlight=False, soft_wrap=True, force_terminal=terminal)
    console.print(TraceTree(read_spans(request(*spans)), verbosity))
    return output.getvalue().splitlines()


RUN = (
    span(1, name="answer", kind="AGENT", duration_ms=1200, **good("step_efficiency", 0.95)),
    span(2, 1, "ask model", kind="LLM", **bad("tool_selection", "unknown_tool", "fly was not offered.")),
    span(3, 1, "fly", kind="TOOL"),
    span(4, 1, "ask model again", kind="LLM", **good("tool_selection"), **good("tool_response_handling")),
)


def test_a_run_is_a_tree_with_faults_under_their_span_and_a_summary() -> None:
    assert [line.rstrip() for line in shown(*RUN)] == [
        "agent answer                     1.2 s  ✓ step_efficiency 0.95",
        "├─ llm ask model                  5 ms",
        "│     ✗ tool_selection incorrect unknown_tool: fly was not offered.",
        "├─ tool fly                       5 ms",
        "└─ llm ask model again            5 ms  ✓ tool_response_handling  ✓ tool_selection",
        f"✗ 1 of 4 checks failed   travel-desk · trace {TRACE_ID}",
    ]


def test_the_order_of_arrival_changes_nothing() -> None:
    as_sent = shown(*RUN)
    assert all(shown(*order) == as_sent for order in itertools.permutations(RUN))


def test_a_run_without_faults_says_so() -> None:
    assert shown(span(1, **good("a")), span(2, 1, **good("b")))[-1].startswith("✓ 2 checks passed")


def test_what_has_only_a_status_counts_neither_as_passed_nor_as_failed() -> None:
    lines = shown(span(1, eval__task_completion__status="needs_judge", **good("step_efficiency")))
    assert "· task_completion needs_judge" in lines[0]
    assert lines[-1].startswith("✓ 1 check passed   1 unscored · ")


def test_what_was_not_captured_is_explained_under_its_span() -> None:
    why = "No tools were captured. To capture it: set TELL=all."
    lacking = {"eval__a__status": "missing_input", "eval__a__explanation": why}
    waiting = {"eval__b__status": "needs_judge", "eval__b__explanation": "Rules can't decide."}
    lines = shown(span(1, **lacking, **waiting))
    assert [line.strip() for line in lines[1:-1]] == [f"· a: {why}"]


def test_a_span_whose_parent_never_came_is_shown_and_marked() -> None:
    lines = shown(span(1, name="top", **good("a")), span(2, 99, "lost", **good("b")))
    assert "(its parent is not here)" in next(line for line in lines if "lost" in line)


def test_a_trace_seen_only_from_below_is_not_full_of_marks() -> None:
    assert not any("its parent" in line for line in shown(span(2, 99, "only", **good("b"))))


def test_a_circle_of_parents_is_shown_once_and_ends() -> None:
    lines = shown(span(1, 2, "one", **good("a")), span(2, 1, "two"), span(3, 3, "self"))
    assert sum(name in line for line in lines for name in ("one", "two", "self")) == 3


def test_a_verdict_that_came_late_stands_on_the_span_it_is_about() -> None:
    late = span(9, 1, "evaluation tool_selection", kind="EVALUATOR", **bad("tool_selection", "wrong_tool", "Why."))
    lines = shown(span(1, name="decide", kind="LLM", **good("tool_selection")), late)
    assert len(lines) == 3
    assert "✗ tool_selection incorrect wrong_tool: Why." in lines[1]


def test_of_late_verdicts_on_a_span_the_one_that_supersedes_counts() -> None:
    judged = span(1, name="decide", kind="LLM", **bad("a", "leak", "First."))
    second = span(9, 1, kind="EVALUATOR", **bad("a", "leak", "Second."))
    third = span(5, 1, kind="EVALUATOR", eval__a__supersedes=f"{9:016x}", **good("a"))
    lines = shown(judged, second, third)
    assert "✓ a" in lines[0] and lines[-1].startswith("✓ 1 check passed")


def test_a_late_verdict_alone_is_still_shown() -> None:
    late = span(9, 1, "evaluation a", kind="EVALUATOR", **bad("a", "leak", "Why."))
    assert any("✗ a incorrect leak: Why." in line for line in shown(late))


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120, 200])
def test_no_line_of_the_tree_is_wider_than_the_terminal(width: int) -> None:
    reason = "The argument guests has to be an integer and is a text. " * 5
    lines = shown(
        span(1, name="北京" * 30, **good("step_efficiency")),
        span(2, 1, "x" * 80, kind="TOOL", **bad("tool_invocation", "wrong_type", reason), **good("another_evaluator")),
        width=width,
    )
    console = Console(width=width)
    assert all(console.render_str(line, markup=False).cell_len <= max(width, 33) for line in lines[:-1])


def test_depth_does_not_eat_the_width() -> None:
    chain = [span(1, **good("a")), *(span(number, number - 1, f"level {number}") for number in range(2, 55))]
    lines = shown(*chain, width=80)
    assert any("level 54" in line for line in lines)


def test_of_a_huge_trace_the_judged_spans_are_shown_and_the_others_counted() -> None:
    many = [span(number, 1, f"row {number}") for number in range(2, 500)]
    lines = shown(span(1, name="top"), *many, span(500, 250, "fault", **bad("a", "leak", "Why.")))
    assert [line.split()[0] for line in lines[:1]] == ["top"]
    assert any("row 250" in line for line in lines) and any("fault" in line for line in lines)
    assert any("497 more spans without a score" in line for line in lines)
    assert len(lines) < MAX_ROWS


def test_faults_come_first_when_not_everything_fits() -> None:
    judged = [span(number, 1, f"row {number}", **good("a")) for number in range(2, 300)]
    lines = shown(span(1, name="top"), *judged, span(300, 1, "last", **bad("a", "leak", "Why.")))
    assert any("✗ a incorrect leak" in line for line in lines)
    assert lines[-1].startswith("✗ 1 of 299 checks failed")


def test_basic_is_one_line() -> None:
    (line,) = shown(*RUN, verbosity=Verbosity.BASIC, width=200)
    assert line.startswith("✗ 1 of 4 checks failed  answer  tool_selection unknown_tool   ")


def test_detailed_tells_how_each_verdict_was_reached() -> None:
    lines = shown(*RUN, verbosity=Verbosity.DETAILED)
    assert any("tool_selection: label incorrect, score 0, method rule, span 0000000000000002" in line for line in lines)


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    output = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    Console(file=output, width=100, highlight=False).print(TraceTree(read_spans(request(*RUN))))
    output.flush()
    text = output.buffer.getvalue().decode("ascii")
    assert "FAIL tool_selection incorrect" in text and "|- llm" in text


def test_a_hostile_span_can_neither_colour_nor_forge_lines() -> None:
    lines = shown(span(1, name="\x1b[2Jx\n✓ all fine[red]", **bad("a", "leak", "Why\x1b]0;x\x07\nnot.")))
    assert len(lines) == 3
    assert not any("\x1b" in line for line in lines)
    assert "x ✓ all fine[red]" in lines[0] and "Why not." in lines[1]


def test_colours_come_only_on_a_terminal() -> None:
    assert any("\x1b[1;31m" in line for line in shown(*RUN, terminal=True))
    assert not any("\x1b" in line for line in shown(*RUN))
