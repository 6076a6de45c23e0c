"""`spanjudge demo`: the packaged runs are judged as they should be."""

from __future__ import annotations

import pytest
from rich.console import Console
from typer import Typer
from typer.testing import CliRunner

from collector.commands import demo
from collector.exporters.span_view import Score
from collector.exporters.trace_tree import TraceTree

EXPECTED = {
    "weather in Porto": set(),
    "table in Rome": {("tool_selection", "unknown_tool")},
    "hotel in Rome": {
        ("tool_invocation", "unexpected_argument"),
        ("tool_invocation", "missing_argument"),
        ("tool_invocation", "wrong_type"),
    },
    "weather in Boston": {("tool_response_handling", "misread_value")},
    "find a booking": {("tool_response_handling", "identical_retry"), ("step_efficiency", "unjustified_retry")},
    "hotel in Vienna": {("step_efficiency", "redundant_call")},
    "customer tier": {("tool_response_handling", "leak")},
    "flight status": set(),
}


@pytest.fixture(scope="module")
def trees() -> dict[str, TraceTree]:
    """The judged trees by the name of their run."""
    return {next(span.name for span in tree.spans if not span.parent_id): tree for tree in demo.judged_trees()}


def scores(tree: TraceTree) -> list[Score]:
    return [score for span in tree.spans for score in span.scores]


def test_every_run_of_the_travel_assistant_is_packaged(trees: dict[str, TraceTree]) -> None:
    assert list(trees) == list(EXPECTED)


@pytest.mark.parametrize("title", EXPECTED)
def test_exactly_the_faults_of_a_run_are_found(trees: dict[str, TraceTree], title: str) -> None:
    failed = [score for score in scores(trees[title]) if score.failed]
    assert {(score.evaluator, code) for score in failed for code in score.codes} == EXPECTED[title]
    assert all(score.explanation for score in failed)


def test_good_runs_are_scored_too(trees: dict[str, TraceTree]) -> None:
    assert all(any(score.passed for score in scores(trees[title])) for title, faults in EXPECTED.items() if not faults)


def test_the_command_shows_every_run_and_ends_well() -> None:
    app = Typer()
    app.callback()(lambda: None)
    demo.register(app)
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 0
    assert all(title in result.output for title in EXPECTED)
    assert "✗" in result.output and "✓" in result.output


def test_the_leaked_secret_is_not_shown_again(trees: dict[str, TraceTree]) -> None:
    console = Console(record=True, width=120)
    demo.print_trees(console, list(trees.values()))
    assert "plum-tarmac-4071" not in console.export_text()
