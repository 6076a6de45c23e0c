"""`spanjudge journal` and `spanjudge journal forget` as an operator sees them."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from collector.cli import app
from tests.collector.journal.entries_made import A, B, arrival, by_reference
from tests.collector.journal.running import freeze, keep, opened, owed


def invoke(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["journal", *arguments])
    return result.exit_code, result.stdout, result.stderr


def words(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


async def test_what_is_kept_and_for_whom_can_be_seen_while_it_is_used_and_after(tmp_path: Path) -> None:
    where = ("--directory", str(tmp_path))
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(b"x" * (2 << 20), items=3))
        await freeze(journal, by_reference(number, [0], [B]))
        journal.dropped([number << 24 | 1])
        code, out, err = invoke(*where)
        assert (code, err) == (0, "")
        assert re.search(r"^used by +process \d+$", out, re.MULTILINE)
    code, out, err = invoke(*where)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert [words(line) for line in lines] == [
        ["journal", str(tmp_path)],
        ["used by", "nobody"],
        ["segments", "2 (2.0 MiB)"],
        ["damaged", "0 places; 0 pieces in quarantine (0 bytes)"],
        ["owed to", "items", "size", "oldest from"],
        [A, "2", "2.0 MiB", "2023-11-14T22:13:20Z"],
        [B, "2", "2.0 MiB", "2023-11-14T22:13:20Z"],
    ]
    assert {one.name for one in tmp_path.iterdir()} >= {"VERSION", "lock"}


async def test_looking_changes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (journal, _):
        await keep(journal, arrival())
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    assert invoke("--directory", str(tmp_path))[0] == 0
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


async def test_a_destination_that_is_given_up_is_owed_nothing_and_the_others_are(tmp_path: Path) -> None:
    where = ("--directory", str(tmp_path))
    async with opened(tmp_path) as (journal, _):
        number = await keep(journal, arrival(items=4))
        parcel = await freeze(journal, by_reference(number, [0]))
        for_b = await freeze(journal, by_reference(number, [1], [B]))
        assert invoke("forget", B, *where)[2].startswith("error: ")
    code, out, err = invoke("forget", B, *where)
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{B}: 4 items \(\d+ bytes\) are given up\n", out)
    async with opened(tmp_path) as (_, recovered):
        # Still to be judged: that the other one gave up doesn't make it a request that went as it came.
        assert owed(recovered) == {number: {A: [1, 2, 3]}, parcel: {A}}
        assert for_b not in owed(recovered)
    code, out, err = invoke("forget", B, *where)
    assert (code, out) == (1, "")
    assert f"nothing is kept for {B}; spanjudge journal shows for whom something is" in " ".join(err.split())


def test_a_journal_that_is_not_there_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    where = ("--directory", str(tmp_path / "none"))
    for arguments in (where, ("forget", A, *where)):
        code, out, err = invoke(*arguments)
        assert (code, out) == (1, "")
        assert "there is no such directory; name a journal's (extensions::journal::directory)" in " ".join(err.split())
    assert not (tmp_path / "none").exists()


def test_the_directory_is_the_configuration_s(tmp_path: Path) -> None:
    setting = ("--set", f"extensions.journal.directory={tmp_path / 'there'}", "--set", "service.extensions=[journal]")
    code, _, err = invoke(*setting)
    assert code == 1
    assert str(tmp_path / "there") in "".join(err.split())
    code, _, err = invoke(*setting, "--set", "extensions.journal.durability=memory")
    assert code == 1
    assert "this configuration keeps nothing on disk" in " ".join(err.split())
