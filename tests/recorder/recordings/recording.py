"""The description of one dialect's recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.recorder.model.exchange import Spelling
from tests.recorder.model.server import ModelServer
from tests.recorder.scenarios import Call, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """How the runs of one dialect are made.

    Args:
        dialect: `<framework>__<instrumentation>[-variant]`, the folder's name.
        framework: What drives the agent.
        instrumentation: What makes the spans.
        environment: Name of the environment: `environments/<name>.txt`, or `environments/<name>/package.json`.
        program: File under `agents/`.
        scenarios: Names of the scenarios to run.
        variables: Environment variables of the program, besides those that every program is given.
        handed_over: The call that stands for "another agent takes over" in this framework.
        prefix: What the framework puts before the names of tools.
        spelling: How the model's replies are put, where not in the protocol's own way.
        unconnected: Fact → why nobody can tell that it belongs to the run, though it is in the bytes.
        why: Fact → why it isn't in the bytes, for the facts that are found to be missing.
    """

    dialect: str
    framework: str
    instrumentation: str
    environment: str
    program: str
    scenarios: tuple[str, ...] = ("lend", "retry")
    variables: Mapping[str, str] = field(default_factory=dict)
    handed_over: Call | None = None
    prefix: str = ""
    spelling: Spelling | None = None
    unconnected: Mapping[str, str] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)

    def model(self, scenario: Scenario) -> ModelServer:
        """The scripted model of a run."""
        return ModelServer(scenario, handed_over=self.handed_over, prefix=self.prefix, spelling=self.spelling)
