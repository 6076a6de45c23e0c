"""`spanjudge dead-letters`: letters looked at without content, and sent again to real servers."""

from __future__ import annotations

import asyncio
import fcntl
import json
from pathlib import Path

import pytest
from grpc import StatusCode
from typer.testing import CliRunner

from collector.cli import app
from collector.exporters.dead_letters import DeadLetterFile
from collector.exporters.letters import Letter, read_letters
from collector.records import Signal
from tests.collector.backends import (
    GrpcBackend,
    GrpcFault,
    HttpAnswer,
    HttpBackend,
    partial_success,
    span_names,
    trace_request,
)

CONFIG = """
receivers: {otlp: {protocols: {grpc: {endpoint: 127.0.0.1:4317}}}}
exporters:
  otlp/a: {endpoint: "127.0.0.1:A", tls: {insecure: true}, timeout: 2s, retry_on_failure: {initial_interval: 10ms}}
  otlphttp/b: {endpoint: "http://127.0.0.1:B", timeout: 2s, retry_on_failure: {initial_interval: 10ms}}
  console: {}
service:
  pipelines: {traces: {receivers: [otlp], exporters: [otlp/a, otlphttp/b, console]}}
"""


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    return tmp_path / "letters.jsonl"


def bury(path: Path, destination: str, *names: str, signal: Signal = Signal.TRACES, answer: str = "") -> None:
    request = trace_request(*names)
    DeadLetterFile(path, destination).append(
        signal, request, len(names), f"{destination} answered 400", {"x-project-name": "p"}, answer
    )


def left_in(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    found = list(read_letters(path))
    return [span_names(one.request) for one in found if isinstance(one, Letter) and not one.sent]


def invoke(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["dead-letters", *arguments])
    return result.exit_code, result.stdout, result.stderr


async def send(path: Path, grpc_port: int, http_port: int, *more: str) -> tuple[int, str, str]:
    config = CONFIG.replace(":A", f":{grpc_port}").replace(":B", f":{http_port}")
    arguments = ("send", str(path), "--config", f"yaml:{config}", "--patience", "5", *more)
    return await asyncio.to_thread(invoke, *arguments)


# -- show --------------------------------------------------------------------------------------------------------------


def test_a_letter_is_shown_by_time_destination_size_traces_and_reason_and_not_by_content(letters: Path) -> None:
    bury(letters, "otlp/a", "top-secret-name", "other", answer="bad value: top-secret-name")
    code, out, err = invoke("show", str(letters), "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told.pop("time").startswith("20")
    assert told.pop("size_bytes") > 0
    assert told == {
        "line": 1,
        "sent": False,
        "destination": "otlp/a",
        "signal": "traces",
        "items": 2,
        "trace_ids": [(b"t" * 16).hex()],
        "reason": "otlp/a answered 400",
    }
    code, out, _ = invoke("show", str(letters))
    assert code == 0
    assert "otlp/a" in out
    assert "secret" not in out


def test_what_the_destination_said_is_shown_when_asked_for(letters: Path) -> None:
    bury(letters, "otlp/a", "a", answer="attribute is too long")
    assert json.loads(invoke("show", str(letters), "--json", "--answers")[1])["answer"] == "attribute is too long"
    assert "long" in invoke("show", str(letters), "--answers")[1]


def test_lines_that_are_no_letters_are_told(letters: Path) -> None:
    bury(letters, "otlp/a", "a")
    with letters.open("ab") as file:
        file.write(b"nonsense\n")
    code, out, err = invoke("show", str(letters))
    assert code == 1
    assert "otlp/a" in out
    assert "line 2: no letter" in err.replace("\n", " ")


def test_a_file_that_isnt_there_is_told(letters: Path) -> None:
    for command in ("show", "send"):
        code, _, err = invoke(command, str(letters))
        assert code == 1
        assert "letters.jsonl" in err.replace("\n", "")


# -- send --------------------------------------------------------------------------------------------------------------


async def test_letters_go_to_the_destinations_they_were_meant_for_with_their_headers(letters: Path) -> None:
    bury(letters, "otlp/a", "a1", "a2")
    bury(letters, "otlphttp/b", "b1")
    async with GrpcBackend() as a, HttpBackend() as b:
        code, out, err = await send(letters, a.port, b.port)
    assert (code, err) == (0, "")
    assert "2 letters sent: 3 items taken, 0 rejected by the destination, 0 refused once more" in out.replace("\n", " ")
    assert (span_names(*a.accepted), span_names(*b.accepted)) == (["a1", "a2"], ["b1"])
    assert a.attempts[0].headers["x-project-name"] == "p"
    assert not letters.exists()
    assert list(letters.parent.iterdir()) == []


async def test_all_letters_can_go_to_another_destination(letters: Path) -> None:
    bury(letters, "otlp/a", "a1")
    bury(letters, "otlp/long-gone", "c1")
    async with HttpBackend() as b:
        code, _, _ = await send(letters, 9, b.port, "--exporter", "otlphttp/b")
    assert code == 0
    assert span_names(*b.accepted) == ["a1", "c1"]


@pytest.mark.parametrize(
    ("exporter", "words"), [(None, "there is no exporter otlp/gone"), ("console", "sends to no backend")]
)
async def test_an_exporter_that_cannot_send_them_is_told_before_anything_is_sent(
    exporter: str | None, words: str, letters: Path
) -> None:
    bury(letters, "otlp/gone", "a1")
    more = ["--exporter", exporter] if exporter else []
    code, _, err = await send(letters, 9, 9, *more)
    assert code == 2
    assert words in err.replace("\n", " ")
    assert left_in(letters) == [["a1"]]


async def test_a_destination_that_fails_for_a_while_gets_them_all_the_same(letters: Path) -> None:
    bury(letters, "otlp/a", "a1")
    async with GrpcBackend(lambda n, request: GrpcFault(StatusCode.UNAVAILABLE) if n < 4 else b"") as a:
        code, _, _ = await send(letters, a.port, 9)
    assert code == 0
    assert span_names(*a.accepted) == ["a1"]


async def test_what_is_refused_once_more_stays_as_a_letter_of_its_own_and_the_rest_arrives(letters: Path) -> None:
    bury(letters, "otlphttp/b", "b1", "bad", "b3")
    picky = lambda n, request: HttpAnswer(400 if "bad" in span_names(request) else 200, b"why")  # noqa: E731
    async with HttpBackend(picky) as b:
        code, out, _ = await send(letters, 9, b.port)
    assert code == 1
    assert "2 items taken, 0 rejected by the destination, 1 refused once more" in out.replace("\n", " ")
    assert sorted(span_names(*b.accepted)) == ["b1", "b3"]
    assert left_in(letters) == [["bad"]]
    (letter,) = read_letters(letters)
    assert isinstance(letter, Letter)
    assert (letter.answer, letter.headers) == ("why", {"x-project-name": "p"})


async def test_after_two_letters_in_a_row_that_cannot_be_sent_nothing_more_is_tried(letters: Path) -> None:
    for name in ("a1", "a2", "a3", "a4"):
        bury(letters, "otlp/a", name)
    async with GrpcBackend(lambda n, request: GrpcFault(StatusCode.UNAUTHENTICATED, "who are you?")) as a:
        code, out, err = await send(letters, a.port, 9)
    assert code == 1
    assert len(a.attempts) == 2
    assert "4 letters left" in out.replace("\n", " ")
    assert "line 1: " in err and "UNAUTHENTICATED" in err.replace("\n", "")
    assert "not tried" in err.replace("\n", " ")
    assert left_in(letters) == [["a1"], ["a2"], ["a3"], ["a4"]]


async def test_patience_ends(letters: Path) -> None:
    bury(letters, "otlp/a", "a1")
    async with GrpcBackend(lambda n, request: GrpcFault(StatusCode.UNAVAILABLE, "busy")) as a:
        code, _, err = await send(letters, a.port, 9, "--patience", "0.3")
    assert code == 1
    assert "not taken within 0.3 s" in err.replace("\n", " ")
    assert left_in(letters) == [["a1"]]


async def test_a_signal_the_destination_doesnt_take_stays(letters: Path) -> None:
    bury(letters, "otlphttp/b", "log", signal=Signal.LOGS)
    async with HttpBackend(lambda n, request: HttpAnswer(404)) as b:
        code, _, _ = await send(letters, 9, b.port)
    assert code == 1
    assert left_in(letters) == [["log"]]


async def test_items_rejected_in_a_partial_success_are_told(letters: Path) -> None:
    bury(letters, "otlp/a", "a1", "a2", "a3")
    async with GrpcBackend(lambda n, request: partial_success(2)) as a:
        code, out, _ = await send(letters, a.port, 9)
    assert code == 0
    assert "1 items taken, 2 rejected by the destination" in out.replace("\n", " ")


async def test_letters_written_by_a_sidecar_while_others_are_sent_stay(letters: Path) -> None:
    bury(letters, "otlp/a", "a1")

    def answer(number: int, request: bytes) -> bytes:
        bury(letters, "otlp/a", "new")
        return b""

    async with GrpcBackend(answer) as a:
        code, _, _ = await send(letters, a.port, 9)
    assert code == 0
    assert span_names(*a.accepted) == ["a1"]
    assert left_in(letters) == [["new"]]


async def test_two_at_once_dont_send_the_same_letters(letters: Path) -> None:
    bury(letters, "otlp/a", "a1")
    lock = letters.with_name("letters.jsonl.sending")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, _, err = await send(letters, 9, 9)
    assert code == 1
    assert "somebody else is sending these letters" in err.replace("\n", " ")


async def test_an_interrupted_sending_goes_on_with_what_is_not_marked(letters: Path) -> None:
    for name in ("a1", "a2", "a3"):
        bury(letters, "otlp/a", name)
    async with GrpcBackend(lambda n, request: b"" if n == 1 else GrpcFault(StatusCode.UNAVAILABLE)) as a:
        await send(letters, a.port, 9, "--patience", "0.2")
    assert left_in(letters) == [["a2"], ["a3"]]
    async with GrpcBackend() as a:
        code, _, _ = await send(letters, a.port, 9)
    assert code == 0
    assert span_names(*a.accepted) == ["a2", "a3"]
