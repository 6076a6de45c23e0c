"""Agents without a span round their loop, live: each model call is a trace of its own, judged as a step of its run."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.e2e.sidecar import Backend, Sidecar, running_backend, running_sidecar
from tests.e2e.test_life_cycle import workers_of
from tests.e2e.test_run import config, scores, tool_definition, until

Message = dict[str, object]
REJECTED = "Error: user_id '4471' is invalid: ids have the form u_<digits>"
DEFINITIONS = json.dumps([tool_definition("get_account", user_id="string")])
SESSION = "session-1"


def message(role: str, **part: object) -> Message:
    return {"role": role, "parts": [part]}


class Agent:
    """An agent that asks for an account, asks again though it was refused, and answers."""

    def __init__(self, name: str, provider: TracerProvider) -> None:
        self.name = name
        self._tracer = provider.get_tracer("client")
        self._history = [message("user", type="text", content=f"What is the plan of {name}'s account 4471?")]

    def call_model(self, step: str, answer: Message) -> None:
        with self._tracer.start_as_current_span(
            f"{self.name} {step}",
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.conversation.id": SESSION,
                "gen_ai.tool.definitions": DEFINITIONS,
                "gen_ai.input.messages": json.dumps(self._history),
                "gen_ai.output.messages": json.dumps([answer]),
            },
        ):
            self._history.append(answer)

    def ask(self, number: int) -> None:
        """Call the tool. All agents number their calls alike."""
        call = {"type": "tool_call", "id": f"call-{number}", "name": "get_account", "arguments": {"user_id": "4471"}}
        self.call_model(f"asks {number}", message("assistant", **call))
        self._history.append(message("tool", type="tool_call_response", id=f"call-{number}", response=REJECTED))

    def answer(self) -> None:
        self.call_model("answers", message("assistant", type="text", content="I could not find it."))


class Live:
    """A sidecar, and the backend behind it."""

    def __init__(self, sidecar: Sidecar, backend: Backend) -> None:
        self.sidecar = sidecar
        self._backend = backend

    @contextmanager
    def sending(self) -> Iterator[TracerProvider]:
        """A provider of tracers whose spans have been sent in the end."""
        provider = TracerProvider(resource=Resource({"service.name": "desk"}))
        exporter = OTLPSpanExporter(f"http://127.0.0.1:{self.sidecar.grpc_port}", insecure=True)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        yield provider
        provider.shutdown()

    @property
    def calls(self) -> dict[str, Span]:
        """The spans of model calls by name; each has come once."""
        found = [span for span in self._backend.spans if not span.links]
        assert len({span.name for span in found}) == len(found)
        return {span.name: span for span in found}

    async def has_let_go(self, number: int) -> None:
        """Wait until so many model calls have left."""
        await until(lambda: len(self.calls) == number)

    @property
    def evaluations(self) -> list[tuple[str, dict[str, object]]]:
        """Spans that carry scores, with the names of the spans they are about."""
        names = {span.span_id: name for name, span in self.calls.items()}
        return [(names[span.links[0].span_id], scores(span)) for span in self._backend.spans if span.links]

    def labels(self, call: str) -> dict[str, object]:
        """By evaluator what a call left with."""
        said = scores(self.calls[call])
        return {key.split(".")[1]: label for key, label in said.items() if key.endswith(".label")}

    def times_told(self) -> Counter[tuple[str, str]]:
        """How often each evaluator has spoken of each call."""
        told = [(name, scores(span)) for name, span in self.calls.items()] + self.evaluations
        return Counter((name, key.split(".")[1]) for name, said in told for key in said if key.endswith(".label"))


@asynccontextmanager
async def live(folder: Path) -> AsyncIterator[Live]:
    async with running_backend() as backend, running_sidecar(folder, config(backend.port)) as sidecar:
        yield Live(sidecar, backend)


async def test_runs_that_are_interleaved_are_told_apart_and_leave_with_all_there_is_to_say(tmp_path: Path) -> None:
    names = ("Ada", "Bo", "Cleo")
    async with live(tmp_path) as scene:
        with scene.sending() as provider:
            agents = [Agent(name, provider) for name in names]
            for number in (1, 2):
                for agent in agents:
                    agent.ask(number)
            for agent in agents:
                agent.answer()
        await scene.has_let_go(9)
        for name in names:
            assert scene.labels(f"{name} asks 1")["tool_invocation"] == "incorrect"
            assert scene.labels(f"{name} asks 2")["tool_invocation"] == "incorrect"
            assert scene.labels(f"{name} answers")["step_efficiency"] == "fail"
            assert scores(scene.calls[f"{name} answers"])["eval.step_efficiency.issue"] == "unjustified_retry"
            for number in (1, 2):
                assert "step_efficiency" not in scene.labels(f"{name} asks {number}")
        await asyncio.sleep(1)
        assert not scene.evaluations
        assert set(scene.times_told().values()) == {1}


async def test_what_comes_to_light_later_follows_on_an_evaluation_span(tmp_path: Path) -> None:
    async with live(tmp_path) as scene:
        with scene.sending() as provider:
            agent, other = Agent("Ada", provider), Agent("Bo", provider)
            steps = (partial(agent.ask, 1), partial(other.ask, 1), partial(agent.ask, 2), agent.answer)
            for number, step in enumerate(steps, start=1):
                step()
                provider.force_flush()
                await scene.has_let_go(number)
        await until(lambda: len(scene.evaluations) == 2)
        found = {name: said["eval.tool_invocation.label"] for name, said in scene.evaluations}
        assert found == {"Ada asks 1": "incorrect", "Ada asks 2": "incorrect"}
        assert scene.labels("Ada answers")["step_efficiency"] == "fail"
        told = scene.times_told()
        await asyncio.sleep(2)
        assert scene.times_told() == told
        assert not any(name == "Bo asks 1" for name, _ in scene.evaluations)


async def test_a_judging_process_that_was_replaced_says_nothing_of_what_it_does_not_know(tmp_path: Path) -> None:
    async with live(tmp_path) as scene:
        with scene.sending() as provider:
            agent = Agent("Ada", provider)
            agent.ask(1)
            provider.force_flush()
            await scene.has_let_go(1)
            (worker,) = workers_of(scene.sidecar.process.pid)
            os.kill(worker, signal.SIGKILL)
            await until(lambda: workers_of(scene.sidecar.process.pid) not in ([], [worker]))
            agent.ask(2)
            agent.answer()
        await scene.has_let_go(3)
        assert scene.labels("Ada asks 2")["tool_invocation"] == "incorrect"
        assert "step_efficiency" in scene.labels("Ada answers")
        await asyncio.sleep(1)
        assert not scene.evaluations
