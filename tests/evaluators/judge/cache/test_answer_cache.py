"""Answers are kept within bounds of size and age; a file in whatever state costs hits at most."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from evaluators.judge.cache.answer_cache import AnswerCache, Kept
from evaluators.judge.limit_settings import CacheSettings

_NOW_S = 1_796_040_000.0
_ANSWER = Kept({"label": "correct", "evidence": ["e1"], "calls": {"c1": {"explanation": "so"}}}, 0.25, True)


def _cache(file: Path | None, **values: Any) -> AnswerCache:
    return AnswerCache(CacheSettings.model_validate({"file": file, **values}))


def _key(number: int) -> bytes:
    return number.to_bytes(32, "big")


@pytest.mark.parametrize("on_disk", [False, True])
def test_what_was_put_is_got(tmp_path: Path, on_disk: bool) -> None:
    cache = _cache(tmp_path / "answers.db" if on_disk else None)
    cache.put(_key(1), _ANSWER, _NOW_S)
    assert cache.get(_key(1), _NOW_S) == _ANSWER
    assert cache.get(_key(2), _NOW_S) is None
    cache.close()


def test_it_is_there_after_a_restart_and_for_other_processes(tmp_path: Path) -> None:
    first, second = _cache(tmp_path / "a.db"), _cache(tmp_path / "a.db")
    first.put(_key(1), _ANSWER, _NOW_S)
    assert second.get(_key(1), _NOW_S) == _ANSWER
    first.close()
    second.close()
    third = _cache(tmp_path / "a.db")
    assert third.get(_key(1), _NOW_S) == _ANSWER
    third.close()


def test_an_answer_that_is_too_old_is_none() -> None:
    cache = _cache(None, max_age="1h")
    cache.put(_key(1), _ANSWER, _NOW_S)
    assert cache.get(_key(1), _NOW_S + 3599) == _ANSWER
    assert cache.get(_key(1), _NOW_S + 3601) is None
    cache.close()


def test_the_oldest_make_room(tmp_path: Path) -> None:
    cache = _cache(tmp_path / "a.db", max_size_mib=1)
    for number in range(600):
        cache.put(_key(number), Kept({"explanation": "x" * 4_000}, 0.0, False), _NOW_S + number)
    kept = [number for number in range(600) if cache.get(_key(number), _NOW_S + 600) is not None]
    cache.close()
    assert 200 < len(kept) < 260
    assert kept == list(range(600 - len(kept), 600))
    assert (tmp_path / "a.db").stat().st_size < 2 * 1024**2


def test_secrets_and_personal_data_are_replaced_before_anything_is_kept(tmp_path: Path) -> None:
    secret, address = "sk-proj-" + "a1B2c3D4" * 6, "jane.doe@example.com"
    cache = _cache(tmp_path / "a.db")
    cache.put(_key(1), Kept({"goals": [{"explanation": f"{secret} went to {address}"}]}, 0.0, False), _NOW_S)
    cache.close()
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in written
    assert address.encode() not in written


def test_a_damaged_file_is_moved_aside_and_it_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(b"nonsense" * 1000)
    with caplog.at_level(logging.WARNING):
        cache = _cache(file)
    cache.put(_key(1), _ANSWER, _NOW_S)
    assert cache.get(_key(1), _NOW_S) == _ANSWER
    cache.close()
    assert len(list(tmp_path.glob("a.db.damaged-*"))) == 1
    assert "was damaged" in caplog.text


def test_a_file_that_is_damaged_under_way_is_moved_aside(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    cache = _cache(file)
    for number in range(200):
        cache.put(_key(number), Kept({"explanation": "x" * 20_000}, 0.0, False), _NOW_S)
    cache.close()
    cache = _cache(file)
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    file.write_bytes(content)
    for number in range(200):
        cache.get(_key(number), _NOW_S)
    cache.put(_key(1), _ANSWER, _NOW_S)
    assert cache.get(_key(1), _NOW_S) == _ANSWER
    cache.close()
    assert list(tmp_path.glob("a.db.damaged-*"))


def test_a_row_of_another_make_is_no_answer(tmp_path: Path) -> None:
    cache = _cache(tmp_path / "a.db")
    cache.put(_key(1), _ANSWER, _NOW_S)
    cache._database.execute("UPDATE answers SET answer = x'00'")
    assert cache.get(_key(1), _NOW_S) is None
    cache.close()
