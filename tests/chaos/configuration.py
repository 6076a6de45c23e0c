"""Configurations of the sidecars that are put to the test: short waits, and whatever else a scenario needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import yaml

EVALUATORS = ("tool_selection", "tool_invocation", "tool_response_handling", "task_completion", "step_efficiency")
IMPATIENT = {"initial_interval": "100ms", "max_interval": "1s"}


@dataclass(frozen=True)
class Destination:
    """An exporter; `more` is what else it is told."""

    name: str
    port: int
    over: str = "grpc"
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def exporter(self) -> str:
        """Its id."""
        return f"otlp_{self.over}/{self.name}"

    def settings(self) -> dict[str, object]:
        """What stands below its id."""
        where: dict[str, object] = (
            {"endpoint": f"127.0.0.1:{self.port}", "tls": {"insecure": True}}
            if self.over == "grpc"
            else {"endpoint": f"http://127.0.0.1:{self.port}"}
        )
        return {**where, "timeout": "2s", "retry_on_failure": IMPATIENT, **self.more}


@dataclass(frozen=True)
class Setup:
    """What differs between scenarios."""

    destinations: Sequence[Destination]
    durability: str = "disk"
    journal: Mapping[str, object] = field(default_factory=dict)
    assemble: Mapping[str, object] = field(default_factory=dict)
    judge: Mapping[str, object] | None = None
    evaluators: Sequence[str] = EVALUATORS


@dataclass(frozen=True)
class Ports:
    """Where a sidecar listens."""

    grpc: int
    http: int
    health: int
    metrics: int


def configuration(setup: Setup, ports: Ports) -> str:
    """The file."""
    evaluators = {name: {} if setup.judge is None else {"judge": "judge/chaos"} for name in setup.evaluators}
    extensions: dict[str, object] = {
        "health_check": {"endpoint": f"127.0.0.1:{ports.health}"},
        "journal": {"durability": setup.durability, **setup.journal},
    }
    if setup.judge is not None:
        extensions["judge/chaos"] = dict(setup.judge)
    timing = {"quiet_period": "300ms", "idle_timeout": "1s", "hold": "2s", "max_hold": "6s", "late_window": "1s"}
    protocols = {"grpc": {"endpoint": f"127.0.0.1:{ports.grpc}"}, "http": {"endpoint": f"127.0.0.1:{ports.http}"}}
    reader = {"pull": {"exporter": {"prometheus": {"host": "127.0.0.1", "port": ports.metrics}}}}
    return yaml.safe_dump(
        {
            "receivers": {"otlp": {"protocols": protocols}},
            "extensions": extensions,
            "processors": {"assemble": {**timing, **setup.assemble}, **evaluators},
            "exporters": {one.exporter: one.settings() for one in setup.destinations},
            "service": {
                "extensions": list(extensions),
                "pipelines": {
                    "traces": {
                        "receivers": ["otlp"],
                        "processors": ["assemble", *evaluators],
                        "exporters": [one.exporter for one in setup.destinations],
                    }
                },
                "telemetry": {"metrics": {"readers": [reader]}},
            },
        },
        sort_keys=False,
    )
