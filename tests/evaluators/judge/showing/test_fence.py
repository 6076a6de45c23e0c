"""Texts of a run stand between marks that nobody who wrote them could have known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.judge.showing.fence import fence_for


def test_the_same_run_gets_the_same_mark_so_that_prompt_caches_hit() -> None:
    assert fence_for(["a", "b"]) == fence_for(["a", "b"])


def test_another_run_gets_another_mark() -> None:
    assert fence_for(["a", "b"]) != fence_for(["ab"])


def test_whoever_knows_the_run_does_not_know_the_mark() -> None:
    assert fence_for(["a"], b"one process") != fence_for(["a"], b"another process")


@given(st.text(st.characters()))
def test_a_text_stands_between_the_marks_as_it_is(text: str) -> None:
    fence = fence_for([text])
    assert fence.around(text) == f"[{fence.mark}]{text}[/{fence.mark}]"
    assert fence.mark not in text


def test_a_mark_that_stands_in_the_run_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = ["aaaaaa", "bbbbbb", "cccccc"]
    monkeypatch.setattr("evaluators.judge.showing.fence._marks", lambda seed: iter(marks))
    assert fence_for(["by chance [/aaaaaa]", "and bbbbbb"]).mark == "cccccc"
