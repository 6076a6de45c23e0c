"""`spanjudge explain` against a real sidecar: what became of a trace at every stage, without its content."""

import json
import signal
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.collector.backends import HttpAnswer, HttpBackend
from tests.e2e.sidecar import Sidecar, running_backend, running_sidecar
from tests.e2e.test_run import config, post, send_faulty_run, until

TRACE = bytes.fromhex("00f067aa0ba902b74bf92f3577b34da6")
LOST_PARENT = bytes.fromhex("aa00000000000001")


def request(trace_id: bytes, span_id: int, parent: bytes, **attributes: str) -> bytes:
    pairs = [KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in attributes.items()]
    span = Span(
        trace_id=trace_id,
        span_id=span_id.to_bytes(8),
        parent_span_id=parent,
        name="step",
        start_time_unix_nano=1,
        end_time_unix_nano=2,
        attributes=pairs,
    )
    built = ExportTraceServiceRequest()
    built.resource_spans.add().scope_spans.add().spans.append(span)
    return built.SerializeToString()


def chat(trace_id: bytes, span_id: int, parent: bytes = b"") -> bytes:
    return request(trace_id, span_id, parent, **{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})


async def explained(sidecar: Sidecar, trace_id: str) -> dict[str, Any]:
    code, out, err = await sidecar.command("explain", trace_id, "--json")
    assert code == 0, err
    story: dict[str, Any] = json.loads(out)
    return story


async def test_a_trace_that_is_held_says_which_spans_wait_for_what(tmp_path: Path) -> None:
    async with running_backend() as backend:
        text = config(backend.port, "1s").replace("idle_timeout: 20s", "idle_timeout: 5m").replace("30s", "6m")
        async with running_sidecar(tmp_path, text) as sidecar:
            await post(sidecar, [chat(TRACE, 1, LOST_PARENT)])
            await says_what_is_held(sidecar)


async def says_what_is_held(sidecar: Sidecar) -> None:
    story = await explained(sidecar, TRACE.hex())
    assert story["trace_id"] == TRACE.hex()
    assert story["state"] in ("held", "judging")
    assert story["timeline"][0] == {
        "after_s": 0.0,
        "event": "arrived",
        "receiver": "otlp",
        "spans": 1,
        "late": 0,
        "repeated": 0,
    }
    holding = story["holding"]
    assert [one["span_id"] for one in holding["held"]] == ["0000000000000001"]
    assert not holding["has_top"]
    assert holding["missing_parents"] == [{"span_id": LOST_PARENT.hex(), "perhaps_elsewhere": True}]
    assert {"idle_timeout", "max_hold"} <= {wait["setting"] for wait in holding["waits_for"]}
    assert [(one["exporter"], one["state"]) for one in story["destinations"]] == [("otlp/backend", "held")]
    for written in (TRACE.hex().upper(), f"{TRACE.hex()[:8]}-{TRACE.hex()[8:]}", TRACE.hex()[:8]):
        assert (await explained(sidecar, written))["trace_id"] == TRACE.hex()
    code, out, _ = await sidecar.command("explain", TRACE.hex())
    assert code == 0
    assert LOST_PARENT.hex() in out and "idle_timeout" in out


async def test_a_trace_that_was_judged_says_what_was_said_where_and_what_was_not_and_why(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        send_faulty_run(OTLPSpanExporter(endpoint=f"127.0.0.1:{sidecar.grpc_port}", insecure=True))
        await until(lambda: len(backend.spans) == 4)
        story = await explained(sidecar, backend.spans[0].trace_id.hex())
        said = {(one["evaluator"], one["status"]): one for one in story["verdicts"]}
        wrong = said["tool_invocation", "ok"]
        assert (wrong["label"], wrong["method"], wrong["way"]) == ("incorrect", "rule", "span")
        assert wrong["issues"] and wrong["revision"]
        assert "names no judge" in said["task_completion", "needs_judge"]["why"]
        assert [event["event"] for event in story["timeline"]][-2:] == ["answered", "left"]
        assert story["timeline"][-1]["with_scores"] > 0
        assert [one["state"] for one in story["destinations"]] == ["delivered"]
        code, out, _ = await sidecar.command("explain", story["trace_id"])
        assert code == 0
        for content in ("Porto", "mood", "get_weather"):
            assert content not in json.dumps(story) + out
        assert "incorrect" in out and "on the span" in out


async def test_content_is_shown_where_the_operator_wants_it(tmp_path: Path) -> None:
    async with running_backend() as backend:
        text = config(backend.port).replace("[health_check]", "[health_check, control]")
        text = text.replace("extensions:\n", "extensions:\n  control: {show_content: true}\n", 1)
        async with running_sidecar(tmp_path, text) as sidecar:
            send_faulty_run(OTLPSpanExporter(endpoint=f"127.0.0.1:{sidecar.grpc_port}", insecure=True))
            await until(lambda: len(backend.spans) == 4)
            story = await explained(sidecar, backend.spans[0].trace_id.hex())
            assert any("mood" in one.get("explanation", "") for one in story["verdicts"])


async def test_a_backend_that_is_down_has_the_trace_queued_and_one_that_is_up_delivered(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        backend.unavailable = True
        await post(sidecar, [chat(TRACE, 1)])

        async def state() -> str:
            [destination] = (await explained(sidecar, TRACE.hex()))["destinations"]
            return str(destination["state"])

        while (now := await state()) == "held":
            pass
        assert now == "queued"
        backend.unavailable = False
        await until(lambda: len(backend.spans) == 1)
        while await state() == "queued":
            pass
        assert await state() == "delivered"


async def test_a_span_that_a_backend_can_never_take_is_known_to_be_in_the_dead_letters(tmp_path: Path) -> None:
    async with HttpBackend(lambda number, sent: HttpAnswer(400)) as backend:
        text = config(0).replace("otlp/backend", "otlphttp/backend")
        text = text.replace('endpoint: "127.0.0.1:0", tls: {insecure: true}', f'endpoint: "{backend.url}"')
        async with running_sidecar(tmp_path, text) as sidecar:
            await post(sidecar, [request(TRACE, 1, b"", **{"http.route": "/"})])
            await until(lambda: "wrote to" in sidecar.stderr)
            [destination] = (await explained(sidecar, TRACE.hex()))["destinations"]
            assert (destination["state"], destination["dead_lettered_requests"]) == ("refused", 1)


async def test_a_trace_without_agents_is_known_to_have_passed(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        await post(sidecar, [request(TRACE, 1, b"", **{"http.route": "/"})])
        story = await explained(sidecar, TRACE.hex())
        assert (story["state"], story["verdicts"], story["holding"]) == ("passed", [], None)


async def test_what_nobody_knows_has_its_possible_reasons_and_what_is_no_id_is_said_to_be_none(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        code, out, err = await sidecar.command("explain", "ab" * 16)
        assert (code, out) == (1, "")
        assert "nothing is known of trace" in err and "another sidecar" in err and "never arrived" in err
        for text in ("abc", "not-hex-at-all", "ab" * 17):
            code, _, err = await sidecar.command("explain", text)
            assert code == 2 and "no trace id" in err
        await post(sidecar, [chat(TRACE, 1), chat(TRACE[:15] + b"\1", 1)])
        code, _, err = await sidecar.command("explain", TRACE.hex()[:20])
        assert code == 1 and "2 traces begin with these digits" in err


async def test_the_socket_is_its_users_alone_and_goes_with_the_sidecar(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as sidecar:
        [socket] = (tmp_path / "spanjudge").glob("*.sock")
        assert socket.stat().st_mode & 0o777 == 0o600
        assert str(socket) in sidecar.stderr
        await sidecar.stop()
        assert not socket.exists()
        code, _, err = await sidecar.command("explain", TRACE.hex())
        assert code == 1 and "no running sidecar was found" in err


def beside(first: Sidecar, name: str, backend_port: int) -> Sidecar:
    """Another sidecar of the same user on the same machine."""
    folder = first.folder / name
    folder.mkdir()
    other = Sidecar(folder, config(backend_port))
    other.runtime_folder = first.folder
    return other


async def test_two_sidecars_are_both_asked_and_a_dead_one_is_passed_over(tmp_path: Path) -> None:
    async with running_backend() as backend, running_sidecar(tmp_path, config(backend.port)) as first:
        dead, other = (beside(first, name, backend.port) for name in ("dead", "other"))
        await dead.start()
        dead.process.send_signal(signal.SIGKILL)
        await dead.process.wait()
        await other.start()
        try:
            await post(other, [chat(TRACE, 1)])
            assert (await explained(first, TRACE.hex()))["timeline"][0]["spans"] == 1
            code, _, err = await first.command("explain", "ab" * 16)
            assert code == 1 and "asked 2 sidecars" in err
            code, _, err = await first.command("reload")
            assert code == 1 and "--socket" in err
        finally:
            await other.stop()
