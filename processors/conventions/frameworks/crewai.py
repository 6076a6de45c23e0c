"""CrewAI's own shapes: crews, agents and tasks in attributes, and tasks whose output holds the conversation.

Its instrumentations leave no span per model call.  OpenInference's puts agents and tasks on the crew's span as JSON,
and on that of an agent at work the agent and its tools (as reprs) and the task's output; OpenLLMetry's puts all of it
on the crew's span, outputs of tasks as reprs.  In recent versions of CrewAI a task's output has the messages, and
in versions of 2025 the span of a tool has the call, as a repr among what else the tool's use was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from evaluators.cases import JsonValue, Role, Tool
from processors.conventions.decoding.conversations import Conversation, with_conversation
from processors.conventions.decoding.definitions import distinct
from processors.conventions.decoding.reprs import fields_of, listed_in
from processors.conventions.decoding.values import as_list, as_object, first_at, text_at
from processors.conventions.dialects.openinference import INPUT, OUTPUT
from processors.conventions.facts import Kind, MessageFacts, SpanFacts, ToolFacts
from processors.conventions.frameworks.framework import Framework
from processors.otlp import Span

AGENTS = ("crew_agents", "crewai.crew.agents")
TASKS = ("crew_tasks", "crewai.crew.tasks")
OUTPUTS = "crewai.crew.tasks_output"
RESULT = "crewai.crew.result"
TASK_KEY = "task_key"
CALLING = "calling"
DELEGATION = ("allow_delegation", "delegation_enabled")
"""Agents that may delegate have tools for it, which aren't listed."""
_KINDS = (Kind.CHAIN, Kind.WORKFLOW, Kind.AGENT)
_NOT_A_LETTER = re.compile(r"[^a-z0-9]+")


class CrewAI(Framework):
    """What CrewAI writes in shapes of its own."""

    def knows(self, span: Span, facts: SpanFacts) -> bool:
        """Whether the span is a crew's, or an agent's at work on a task of one."""
        attributes = span.attributes
        if facts.tool is not None:
            return CALLING in str(attributes.get(INPUT))
        return facts.kind in _KINDS and (first_at(attributes, *TASKS) is not None or TASK_KEY in attributes)

    def refined(self, span: Span, facts: SpanFacts) -> SpanFacts:
        """The facts with what crew, agent and task say."""
        attributes = span.attributes
        if facts.tool is not None:
            return _called(facts, facts.tool)
        tasks = _objects(first_at(attributes, *TASKS))
        if not tasks:
            return self._at_work(as_object(attributes.get(INPUT)), as_object(attributes.get(OUTPUT)), facts)
        agents = _objects(first_at(attributes, *AGENTS))
        asked = [text for task in tasks if (text := text_at(task, "description"))]
        opening = tuple(MessageFacts(role=Role.USER, text=text) for text in asked)
        before, after = _split(self._outputs(text_at(attributes, OUTPUTS)))
        return replace(
            facts,
            input=before or opening or facts.input,
            output=after or facts.output,
            whole=bool(after),
            input_text=facts.input_text or (asked[0] if len(asked) == 1 else None),
            output_text=facts.output_text or text_at(attributes, RESULT),
            system=tuple(text for agent in agents if (text := _instructions(agent))) or None,
            tools=distinct(tool for agent in agents for tool in _tools(agent)) or None,
            tools_cut=any(agent.get(key) is True for agent in agents for key in DELEGATION),
        )

    def _outputs(self, text: str | None) -> tuple[MessageFacts, ...]:
        """The conversations of all tasks one after the other, where the crew's span has them."""
        found: list[MessageFacts] = []
        for output in listed_in(text or ""):
            messages = output.get("messages") if isinstance(output, dict) else None
            found += self._messages.read(messages, Role.USER) or ()
        return tuple(found)

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
            return with_conversation(known, conversation, _split(conversation)[0])
        instructions = _instructions(agent)
        return replace(known, system=(instructions,) if instructions else None)


def _called(facts: SpanFacts, tool: ToolFacts) -> SpanFacts:
    """The facts of a use of a tool, whose input has the call among the words that asked for it."""
    given = tool.arguments
    calling = given.get(CALLING) if isinstance(given, dict) else None
    call = fields_of(calling) if isinstance(calling, str) else calling
    arguments = call.get("arguments") if isinstance(call, dict) else None
    return replace(facts, tool=replace(tool, arguments=arguments)) if isinstance(arguments, dict) else facts


def _split(conversation: Conversation) -> tuple[Conversation, Conversation]:
    """The messages before an agent's first answer, and those from there on: each task begins a new conversation."""
    first = next((at for at, message in enumerate(conversation) if message.role is Role.ASSISTANT), len(conversation))
    return conversation[:first], conversation[first:]


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in as_list(value) if isinstance(item, dict)]


def _tools(agent: Mapping[str, JsonValue]) -> Iterable[Tool]:
    for name in as_list(agent.get("tools_names")):
        if isinstance(name, str):
            yield Tool(name=_as_called(name))
    yield from _offered(agent.get("tools")) or ()


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
