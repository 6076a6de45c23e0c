"""One account from two: of a span that two readers understood, or of one model call or execution that left two spans.

The first account's word stands, and the second one completes it:

* a fact that the first doesn't know (None) is the second's;
* a kind that says nothing (a chain, or another span) is the second's if that says something;
* the output is the one that asks for more calls, of equal ones the one with words, since calls are lost on the way;
* the input is the one that tells more results of calls apart;
* the tools are those of the list that is whole, of equal ones the one with more schemas; that there were none stands;
* an execution is completed field by field, and an error that has words is told rather than one that has none; its name
  is that of the first account that knows its id, arguments or result as well; where none of them does, that there is no
  name of a tool ("") stands;
* what is missing from either (cut, cut off, hidden, called in code) is missing.

So the order of accounts decides only where both know a fact and neither knows more of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from processors.conventions.facts import Kind, MessageFacts, SpanFacts, ToolFacts

FactT = TypeVar("FactT")
_SAYS_NOTHING = (Kind.CHAIN, Kind.OTHER)


def merged(first: SpanFacts, second: SpanFacts) -> SpanFacts:
    """One account of a span, or of a model call."""
    given = second if _input_worth(second.input) > _input_worth(first.input) else first
    said = second if _output_worth(second.output) > _output_worth(first.output) else first
    offering = second if first.tools != () and _offer_worth(second) > _offer_worth(first) else first
    return replace(
        first,
        kind=second.kind if first.kind in _SAYS_NOTHING and second.kind not in _SAYS_NOTHING else first.kind,
        input=given.input,
        output=said.output,
        whole=said.whole,
        input_text=_known(first.input_text, second.input_text),
        output_text=_known(first.output_text, second.output_text),
        system=_known(first.system, second.system),
        tools=offering.tools,
        tools_cut=offering.tools_cut,
        tool_choice=_known(first.tool_choice, second.tool_choice),
        tool=merged_tool(first.tool, second.tool) if first.tool and second.tool else _known(first.tool, second.tool),
        agent_name=_known(first.agent_name, second.agent_name),
        session_id=_known(first.session_id, second.session_id),
        response_id=_known(first.response_id, second.response_id),
        model=_known(first.model, second.model),
        finish_reasons=_known(first.finish_reasons, second.finish_reasons),
        error=_known(first.error, second.error),
        truncated=first.truncated or second.truncated,
        partial=first.partial or second.partial,
        hidden=first.hidden or second.hidden,
        in_code=first.in_code or second.in_code,
        also=tuple(dict.fromkeys((*first.also, *second.dialects))),
    )


def merged_tool(first: ToolFacts, second: ToolFacts) -> ToolFacts:
    """One account of an execution."""
    return ToolFacts(
        name=_name(first, second),
        call_id=first.call_id or second.call_id,
        arguments=_known(first.arguments, second.arguments),
        result=_known(first.result, second.result),
        error=first.error or second.error or _known(first.error, second.error),
        description=first.description or second.description,
        truncated=first.truncated or (first.result is None and second.truncated),
        pending=first.pending or second.pending,
    )


def _name(first: ToolFacts, second: ToolFacts) -> str | None:
    """The tool's name. Who knows nothing but a name has that of a span or a class, not that of the call."""
    telling = (one.name for one in (first, second) if one.name and _tells_of_call(one))
    known = next(telling, None)
    if known is not None:
        return known
    return "" if "" in (first.name, second.name) else second.name or first.name


def _tells_of_call(tool: ToolFacts) -> bool:
    return tool.call_id is not None or tool.arguments is not None or tool.result is not None


def _known(first: FactT | None, second: FactT | None) -> FactT | None:
    return second if first is None else first


def _input_worth(messages: tuple[MessageFacts, ...] | None) -> tuple[bool, int]:
    """Whether there is a history, and how many results it tells apart."""
    return (messages is not None, len({message.call_id for message in messages or ()} - {None}))


def _output_worth(messages: tuple[MessageFacts, ...] | None) -> tuple[bool, int, bool]:
    """Whether there is an answer, how many calls it asks for, and whether it has words."""
    calls = sum(len(message.calls) for message in messages or ())
    return (messages is not None, calls, any(message.text for message in messages or ()))


def _offer_worth(facts: SpanFacts) -> tuple[bool, bool, int]:
    """Whether there is a list of tools, whether it is whole, and how many schemas it has."""
    schemas = sum(tool.parameters is not None for tool in facts.tools or ())
    return (facts.tools is not None, not facts.tools_cut, schemas)
