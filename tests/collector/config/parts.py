"""A registry with real settings models, small enough that every message in the tests is known."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from collector.config import ComponentRegistry, Config, ConfigError, Kind, load
from collector.config.settings import ComponentSettings
from collector.exporters import file, otlp_grpc, otlp_http
from collector.health import HealthCheckSettings
from collector.holding import settings as assembler_settings
from collector.journal import settings as journal_settings
from collector.receivers import otlp_settings
from collector.records import Signal
from evaluators.evaluator import EvaluatorSettings
from evaluators.judge.settings import JudgeSettings


class Quiet(ComponentSettings):
    """No settings."""


class Tags(ComponentSettings):
    tags: dict[str, str] = Field(default={}, description="Text by name.")
    count: int | None = Field(default=None, description="A number.")
    on: bool = Field(default=False, description="A switch.")


def registry() -> ComponentRegistry:
    made = ComponentRegistry()
    traces = [Signal.TRACES]
    made.add(Kind.RECEIVER, "otlp", otlp_settings.Settings, summary="r")
    made.add(Kind.PROCESSOR, "assemble", assembler_settings.Settings, summary="p", signals=traces, single=True)
    for name in ("tool_selection", "tool_invocation"):
        made.add(
            Kind.PROCESSOR,
            name,
            EvaluatorSettings,
            summary="e",
            signals=traces,
            after="assemble",
            references={"judge": "judge"},
        )
    made.add(Kind.EXPORTER, "otlp", otlp_grpc.OtlpGrpcSettings, summary="x", aliases=["otlp_grpc"])
    made.add(Kind.EXPORTER, "otlphttp", otlp_http.OtlpHttpSettings, summary="x", aliases=["otlp_http"])
    made.add(Kind.EXPORTER, "console", Quiet, summary="x")
    made.add(Kind.EXPORTER, "file", file.FileSettings, summary="x")
    made.add(Kind.EXPORTER, "tags", Tags, summary="x")
    made.add(Kind.EXTENSION, "health_check", HealthCheckSettings, summary="h")
    made.add(Kind.EXTENSION, "journal", journal_settings.JournalSettings, summary="j", single=True)
    made.add(Kind.EXTENSION, "judge", JudgeSettings, summary="j")
    return made


GOOD = """
receivers: {otlp: {protocols: {grpc: , http: }}}
processors: {assemble: {}, tool_selection: {}}
exporters: {otlp/x: {endpoint: "backend:4317"}}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [assemble, tool_selection], exporters: [otlp/x]}
"""


def read(*sources: str, sets: tuple[str, ...] = (), environment: Mapping[str, str] | None = None) -> Config:
    """Load texts as sources; the first of them is merged over nothing."""
    texts = {f"TEXT{number}": text for number, text in enumerate(sources)}
    return load([f"env:{name}" for name in texts], sets, registry(), {**texts, **(environment or {})})


def problems(*sources: str, sets: tuple[str, ...] = (), environment: Mapping[str, str] | None = None) -> list[str]:
    """What is wrong, without the places."""
    try:
        read(*sources, sets=sets, environment=environment)
    except ConfigError as error:
        return [str(problem).replace(f" ({problem.place})", "") for problem in error.problems]
    return []
