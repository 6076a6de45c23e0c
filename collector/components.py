"""Which component types there are. A new one is one entry here.

This is where the collector learns the names of evaluators and of judges; it only takes over their settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from collector.config import ComponentRegistry, Config, ConfigError, Kind, load
from collector.control.settings import ControlSettings
from collector.cross_checks import cross_checks
from collector.exporters import console, file, otlp_grpc, otlp_http
from collector.health import HealthCheckSettings
from collector.holding import settings as assembler_settings
from collector.journal import settings as journal_settings
from collector.receivers import otlp_settings
from collector.records import Signal
from evaluators.calibration.settings import CalibrationSettings
from evaluators.judge.settings import JudgeSettings
from evaluators.registry import EVALUATORS, OWN_KINDS, require_own_name
from processors.admission_settings import AdmissionSettings
from processors.reference_settings import ReferencesSettings

# What configurations of the Collector often name; how to say the same here.
_REFUSED = {
    (Kind.PROCESSOR, "batch"): "every exporter batches (sending_queue::batch); take it out",
    (Kind.PROCESSOR, "memory_limiter"): "what is held is bounded by processors::assemble::limit_mib; take it out",
    (Kind.PROCESSOR, "groupbytrace"): "assemble puts traces together; name it instead",
    (Kind.EXPORTER, "debug"): "console shows traces, and file writes everything; name one of them instead",
    (Kind.EXTENSION, "file_storage"): "what was acknowledged is kept by the journal (extensions::journal); take it out",
}


def component_registry() -> ComponentRegistry:
    """All component types with their settings."""
    registry = ComponentRegistry()
    registry.add(Kind.RECEIVER, "otlp", otlp_settings.Settings, summary="Takes OTLP over gRPC and HTTP.")
    registry.add(
        Kind.PROCESSOR,
        "assemble",
        assembler_settings.Settings,
        summary="Holds spans until their trace can be judged.",
        signals=[Signal.TRACES],
        single=True,
    )
    registry.add(
        Kind.PROCESSOR,
        "admission",
        AdmissionSettings,
        summary="Says what is judged, and about how many traces a judge is asked.",
        signals=[Signal.TRACES],
        after="assemble",
        single=True,
    )
    registry.add(
        Kind.PROCESSOR,
        "references",
        ReferencesSettings,
        summary="Says what should have come of runs, for evaluators that compare with a reference.",
        signals=[Signal.TRACES],
        after="assemble",
        single=True,
    )
    for name, entry in EVALUATORS.items():
        registry.add(
            Kind.PROCESSOR,
            name,
            entry.settings,
            summary=entry.summary,
            signals=[Signal.TRACES],
            after="assemble",
            references={"judge": "judge"},
            single=True,
        )
    for kind, own in OWN_KINDS.items():
        registry.add(
            Kind.PROCESSOR,
            kind,
            own.settings,
            summary=f"{own.summary} `{kind}/<name>` is the evaluator `<name>`.",
            signals=[Signal.TRACES],
            after="assemble",
            references={"judge": "judge"},
            check_name=require_own_name,
        )
    registry.add(
        Kind.EXPORTER,
        "otlp",
        otlp_grpc.OtlpGrpcSettings,
        summary="Sends to an OTLP/gRPC backend.",
        aliases=["otlp_grpc"],
    )
    registry.add(
        Kind.EXPORTER,
        "otlphttp",
        otlp_http.OtlpHttpSettings,
        summary="Sends to an OTLP/HTTP backend.",
        aliases=["otlp_http"],
    )
    registry.add(
        Kind.EXPORTER,
        "console",
        console.Settings,
        summary="Prints judged traces as trees.",
        signals=[Signal.TRACES],
    )
    registry.add(Kind.EXPORTER, "file", file.FileSettings, summary="Appends OTLP JSON lines to a file.")
    registry.add(
        Kind.EXTENSION, "health_check", HealthCheckSettings, summary="Says whether telemetry is taken.", single=True
    )
    registry.add(
        Kind.EXTENSION,
        "control",
        ControlSettings,
        summary="Answers commands that ask a running sidecar.",
        single=True,
    )
    registry.add(
        Kind.EXTENSION,
        "journal",
        journal_settings.JournalSettings,
        summary="Keeps what was acknowledged until it is delivered.",
        single=True,
    )
    registry.add(
        Kind.EXTENSION,
        "judge",
        JudgeSettings,
        summary="An OpenAI-compatible model that decides what rules can't.",
        references={"escalate_to": "judge"},
    )
    registry.add(
        Kind.EXTENSION,
        "calibration",
        CalibrationSettings,
        summary="Marks verdicts of judges that aren't known to agree with people.",
        single=True,
    )
    for (kind, name), reason in _REFUSED.items():
        registry.refuse(kind, name, reason)
    return registry


def shipped_configuration() -> str:
    """The path of the configuration that is used when none is named."""
    packaged = Path(str(files("collector"))) / "otel-config.yaml"
    # In a checkout the file stands at the root, where whoever reads the code looks for it.
    return str(packaged if packaged.is_file() else packaged.parent.parent / packaged.name)


def load_config(sources: Sequence[str], sets: Sequence[str], environment: Mapping[str, str] | None = None) -> Config:
    """Read and check a configuration; without a source, the shipped one.

    Raises:
        collector.config.ConfigError: with every problem found.
    """
    config = load(sources or [shipped_configuration()], sets, component_registry(), environment)
    problems = list(cross_checks(config))
    if problems:
        raise ConfigError(problems)
    return config
