"""The lines with which a sidecar says what it does."""

from __future__ import annotations

from pathlib import Path

from collector.components import load_config
from collector.judging.setup import plan_of
from collector.overview import overview

CONFIG = """
receivers:
  otlp:
    protocols:
      grpc: {endpoint: "[::1]:4317"}
      http: {endpoint: ":0", tls: {cert_file: tests/data/tls/server.pem, key_file: tests/data/tls/server.key}}
processors: {assemble: {}, tool_selection: {judge: judge/x}, task_completion: {judge: judge/off}}
exporters:
  otlp/jaeger: {endpoint: "http://127.0.0.1:14317", headers: {authorization: secret-1}}
  otlphttp/phoenix: {endpoint: "http://127.0.0.1:6006/", traces_endpoint: "http://127.0.0.1:7007/t"}
  console: {}
  file: {path: out.jsonl}
extensions:
  judge/x: {model: m, base_url: "http://127.0.0.1:1/v1", api_key: secret-2}
  judge/off: {model: m}
service:
  extensions: [judge/x, judge/off]
  pipelines:
    traces:
      receivers: [otlp]
      processors: [assemble, tool_selection, task_completion]
      exporters: [otlp/jaeger, otlphttp/phoenix, console]
    logs: {receivers: [otlp], exporters: [otlphttp/phoenix, file]}
    metrics: {receivers: [otlp], exporters: [file]}
"""


def lines(text: str, ports: list[int], *sets: str) -> list[str]:
    config = load_config([f"yaml:{text}"], sets)
    return list(overview(config, plan_of(config), ports))


def test_everything_is_told_but_no_secret() -> None:
    here = Path.cwd() / "out.jsonl"
    assert lines(CONFIG, [4317, 40404]) == [
        "otlp listens on [::1]:4317 (OTLP/gRPC) and *:40404 (OTLP/HTTP with TLS)",
        "traces go to otlp/jaeger (127.0.0.1:14317), otlphttp/phoenix (http://127.0.0.1:7007/t), "
        "console (standard output)",
        f"logs go to otlphttp/phoenix (http://127.0.0.1:6006/v1/logs), file ({here})",
        f"metrics go to file ({here})",
        "ready: judging by rules and judge/x: tool_selection, task_completion",
    ]


def test_signals_of_the_same_way_share_a_line() -> None:
    config = load_config([], [])
    told = list(overview(config, plan_of(config), [4317, 4318]))
    assert any(line.startswith("logs and metrics go to file (") for line in told)


def test_a_pipeline_that_judges_nothing_says_so() -> None:
    told = lines(CONFIG, [4317, 4318], "service.pipelines.traces.processors=[assemble]")
    assert told[-1] == "ready: nothing is judged, as the traces pipeline names no evaluator"


def test_a_unix_socket_is_told_by_its_path() -> None:
    told = lines(CONFIG, [0, 4318], "receivers.otlp.protocols.grpc={transport: unix, endpoint: /run/otlp.sock}")
    assert told[0].startswith("otlp listens on /run/otlp.sock (OTLP/gRPC) and ")
