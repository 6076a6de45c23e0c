"""CrewAI's own shapes: crews, agents and tasks as JSON in attributes, and tasks whose output holds the conversation.

Its instrumentation leaves no span per model call.  The span of a crew names its agents and tasks; that of an agent at
work on a task has the agent and its tools (as reprs) in its input and, in recent versions, the messages in its output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.conversations import with_conversation
from processors.conventions.definitions import distinct
from processors.conventions.facts import Kind, MessageFacts, SpanFacts
from processors.conventions.messages import Messages
from processors.conventions.openinference import INPUT, OUTPUT
from processors.conventions.reprs import fields_of
from processors.conventions.values import as_list, as_object, text_at
from processors.otlp import Span

AGENTS = "crew_agents"
TASKS = "crew_tasks"
TASK_KEY = "task_key"
_NOT_A_LETTER = re.compile(r"[^a-z0-9]+")


class CrewAI:
    """What CrewAI writes in shapes of its own."""

    name = "crewai"

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span is a crew's, or an agent's at work on a task of one."""
        attributes = span.attributes
        return facts.kind in (Kind.CHAIN, Kind.AGENT) and (TASKS in attributes or TASK_KEY in attributes)

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with what crew, agent and task say."""
        attributes = span.attributes
        if TASKS in attributes:
            asked = [text for task in _objects(attributes.get(TASKS)) if (text := text_at(task, "description"))]
            agents = _objects(attributes.get(AGENTS))
            return replace(
                facts,
                input=tuple(MessageFacts(role=Role.USER, text=text) for text in asked) or facts.input,
                system=tuple(text for agent in agents if (text := _instructions(agent))) or None,
                tools=distinct(Tool(name=_as_called(name)) for agent in agents for name in _names(agent)) or None,
            )
        return self._at_work(as_object(attributes.get(INPUT)), as_object(attributes.get(OUTPUT)), facts)

    def _at_work(
        self, asked: Mapping[str, JsonValue], answered: Mapping[str, JsonValue], facts: SpanFacts
    ) -> SpanFacts:
        agent = as_object(asked.get("agent"))
        known = replace(
            facts,
            agent_name=facts.agent_name or text_at(agent, "role"),
            tools=_offered(asked.get("tools")) or facts.tools,
            input_text=facts.input_text or text_at(answered, "description"),
            output_text=facts.output_text or text_at(answered, "raw"),
        )
        conversation = self._messages.read(answered.get("messages"), Role.USER)
        if conversation:
            first = next((at for at, message in enumerate(conversation) if message.role is Role.ASSISTANT), None)
            return with_conversation(known, conversation, conversation[:first])
        instructions = _instructions(agent)
        return replace(known, system=(instructions,) if instructions else None)


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in as_list(value) if isinstance(item, dict)]


def _names(agent: Mapping[str, JsonValue]) -> Iterable[str]:
    return (name for name in as_list(agent.get("tools_names")) if isinstance(name, str))


def _instructions(agent: Mapping[str, JsonValue]) -> str:
    """An agent's instructions as they were configured; the words that CrewAI puts round them aren't on the span."""
    return "\n".join(text for key in ("role", "goal", "backstory") if (text := text_at(agent, key)))


def _offered(tools: JsonValue) -> tuple[Tool, ...] | None:
    found: list[Tool] = []
    for item in as_list(tools):
        tool = fields_of(item) if isinstance(item, str) else item
        name = text_at(tool, "name") if isinstance(tool, dict) else None
        if name is not None and isinstance(tool, dict):
            found.append(Tool(name=_as_called(name), description=text_at(tool, "description")))
    return distinct(found) or None


def _as_called(name: str) -> str:
    """A tool's name as the model is given it: `Delegate work to coworker` is called as `delegate_work_to_coworker`."""
    return _NOT_A_LETTER.sub("_", name.lower()).strip("_") if " " in name else name
