"""Frameworks that don't use a protocol's tool calls for all they do: how the model's replies are put for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tests.recorder.model.exchange import Reply, Requested


def answer_as_call(reply: Reply, tool: str = "final_answer") -> Sequence[Reply]:
    """Smolagents, and frameworks whose answers are structured: an answer is a call of an output tool."""
    if reply.calls or reply.text is None:
        return [reply]
    answer = Requested(reply.made_up_id("call_"), tool, json.dumps({"answer": reply.text}))
    return [replace(reply, text=None, calls=(answer,))]


def planned_answer(reply: Reply) -> Sequence[Reply]:
    """Smolagents with planning: of the texts, the plan is none that answers."""
    return [reply] if reply.text is not None and "<end_plan>" in reply.text else answer_as_call(reply)


def code(reply: Reply) -> Sequence[Reply]:
    """Smolagents: calls and answers are Python code in the text."""
    if reply.calls:
        lines = [f"print({call.name}({_keywords(call)}))" for call in reply.calls]
        thought = "I look it up."
    else:
        lines, thought = [f"final_answer({reply.text!r})"], "I know it now."
    text = "\n".join([f"Thought: {thought}", "<code>", *lines, "</code>"])
    return [replace(reply, text=text, calls=())]


def _keywords(call: Requested) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in call.values.items())


def react_fields(reply: Reply) -> Sequence[Reply]:
    """DSPy's ReAct: marked fields; the answer is drawn from the trajectory by a last request."""
    if not reply.calls:
        finish = _fields(next_thought="I know it now.", next_tool_name="finish", next_tool_args="{}")
        answer = _fields(reasoning="The catalogue says so.", answer=reply.text or "")
        return [replace(reply, text=text) for text in (finish, answer)]
    call = reply.calls[0]
    step = _fields(next_thought="I look it up.", next_tool_name=call.name, next_tool_args=call.arguments)
    return [replace(reply, text=step, calls=())]


def _fields(**values: str) -> str:
    return "\n\n".join([*(f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()), "[[ ## completed ## ]]"])


def react_lines(reply: Reply) -> Sequence[Reply]:
    """CrewAI before 1.0: a call is two lines of the text."""
    if not reply.calls:
        return [replace(reply, text=f"Thought: I now know the final answer\nFinal Answer: {reply.text}")]
    call = reply.calls[0]
    text = f"Thought: I look it up.\nAction: {call.name}\nAction Input: {call.arguments}\n"
    return [replace(reply, text=text, calls=())]
