"""What a started sidecar does, in lines for its log: where it listens, where telemetry goes, who judges.

In: a checked configuration, the plan made of it, and the ports that were really opened.  Never shows headers, keys or
other secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from collector.config import Component, Config
from collector.config.settings import split_host_port
from collector.exporters import file, otlp_grpc, otlp_http
from collector.judging.setup import Plan
from collector.receivers import otlp_settings
from collector.records import Signal


def overview(config: Config, plan: Plan, ports: Iterable[int]) -> Iterator[str]:
    """One line per receiver, one per way out, and last the one that says that everything is ready.

    Args:
        config: what was started.
        plan: what it judges with.
        ports: those that are listened on, receiver by receiver, OTLP/gRPC before OTLP/HTTP.
    """
    opened = iter(ports)
    for name, component in config.receivers.items():
        protocols = component.settings_as(otlp_settings.Settings).protocols
        offered = (("OTLP/gRPC", protocols.grpc), ("OTLP/HTTP", protocols.http))
        listening = [
            f"{_address(settings, next(opened))} ({protocol}{' with TLS' if settings.tls else ''})"
            for protocol, settings in offered
            if settings is not None
        ]
        yield f"{name} listens on {' and '.join(listening)}"
    ways: dict[str, list[str]] = {}
    for signal, pipeline in config.pipelines.items():
        places = [f"{name} ({_destination(config.exporters[name], signal)})" for name in pipeline.exporters]
        ways.setdefault(", ".join(places), []).append(signal)
    for places_of_signals, signals in ways.items():
        yield f"{' and '.join(signals)} go to {places_of_signals}"
    yield f"ready: {_judging(plan)}"


def _address(settings: otlp_settings.GrpcSettings | otlp_settings.HttpSettings, port: int) -> str:
    if settings.transport == "unix":
        return settings.endpoint
    host, _ = split_host_port(settings.endpoint)
    return f"[{host}]:{port}" if ":" in host else f"{host or '*'}:{port}"


def _destination(component: Component, signal: Signal) -> str:
    settings = component.settings
    if isinstance(settings, otlp_grpc.OtlpGrpcSettings):
        return settings.target
    if isinstance(settings, otlp_http.OtlpHttpSettings):
        return settings.url(signal) or f"no URL for {signal}"
    if isinstance(settings, file.FileSettings):
        return str(Path(settings.path).absolute())
    return "standard output"


def _judging(plan: Plan) -> str:
    if not plan.evaluators:
        return "nothing is judged, as the traces pipeline names no evaluator"
    asked = sorted({settings.judge for settings in plan.evaluators.values() if settings.judge in plan.judges})
    by = f"by rules and {', '.join(asked)}" if asked else "by rules alone"
    return f"judging {by}: {', '.join(plan.evaluators)}"
