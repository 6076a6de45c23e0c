"""How a run ended: with an answer, without one, by a crash, or nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from evaluators.cases import Role
from processors.conventions.decoding.values import as_text
from processors.reading.drafts import CallDraft, Draft
from processors.reading.plumbing import is_handoff, is_output
from processors.reading.scopes import RUN
from processors.reading.tree import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """`answered` None: not known. `abort_reason` is set when the run is known to have crashed or been closed."""

    answer: str | None = None
    answered: bool | None = None
    abort_reason: str | None = None


def ending_of(
    drafts: Sequence[Draft], top: Node | None, agents: Sequence[Node], *, failed: bool, whole: bool
) -> Ending:
    """How a run of these turns ended.

    Args:
        drafts: the turns in order.
        top: the run's own span.
        agents: the spans of its agents and workflows, outer ones first.
        failed: whether a span that encloses work of the run failed.
        whole: nothing shows that spans of the run were lost.
    """
    own = [draft for draft in drafts if draft.scope == RUN]
    last = own[-1] if own else None
    told = _told_answer(top, agents)
    if last is None:
        return Ending(answer=told, answered=True if told else None)
    pending = any(call.tool is not None and call.tool.pending for call in last.calls)
    if pending:
        return Ending()
    given = next((answer for call in last.calls if (answer := _output_call(call)) is not None), None)
    if given is not None:
        return Ending(answer=given, answered=True)
    if last.told and last.output is None and (said := _last_words(last.node)):
        return Ending(answer=said, answered=True)
    working = [call for call in last.calls if not call.provider_executed and call not in last.seen_calls]
    # What a run's own span tells with its calls was said after them.
    of_the_run = top is not None and last.node.id == top.id
    if last.text and (not working or of_the_run):
        return Ending(answer=_to_the_user(last.text, told), answered=True)
    if told and (last.output is None or not last.text) and not _is_echo(told, last):
        return Ending(answer=told, answered=True)
    if not any(draft.output is not None for draft in own):
        crash = top.facts.error if top is not None and top.facts is not None else None
        return Ending() if crash is None or last.facts.error is None else _failed_request(last.facts.error)
    executes = any(call.execution is not None for draft in own for call in draft.calls)
    return _without_answer(last, working, top, executes=executes and whole, failed=failed)


def _without_answer(
    last: Draft, working: Sequence[CallDraft], top: Node | None, *, executes: bool, failed: bool
) -> Ending:
    if last.facts.error is not None and not last.calls:
        return _failed_request(last.facts.error)
    if last.output is None:
        return Ending()
    if top is None:
        # Without a run's span nobody knows whether more was to come.
        return Ending()
    if any(is_handoff(call.name) for call in working):
        return Ending()
    crash = top.facts.error if top.facts is not None else None
    if crash is not None:
        return Ending(answered=False, abort_reason=f"the run failed: {crash}".rstrip(": "))
    offered = {tool.name for tool in last.facts.tools or ()}
    unknown = [call.name for call in working if offered and call.name not in offered]
    left_open = not any(_is_executed(call) for call in working)
    if unknown and left_open and failed:
        return Ending(answered=False, abort_reason=f"the run stopped after a call of the unknown tool {unknown[0]}")
    if last.facts.truncated:
        # What was left out may have been the answer.
        return Ending()
    if working:
        # The turn that saw the results may have been lost. Calls that nobody executed, among others that somebody did,
        # were the end.
        return Ending(answered=False if left_open and executes else None)
    return Ending(answered=False if _meant_to_end(last) else None)


def _failed_request(error: str) -> Ending:
    return Ending(answered=False, abort_reason=f"the last model request failed: {error}".rstrip(": "))


def _meant_to_end(last: Draft) -> bool:
    """Whether the model had nothing more to say. Without words, a turn may also be one whose calls weren't captured."""
    reasons = last.facts.finish_reasons or ()
    captured = all(message.text is not None for message in last.output or ())
    return (
        captured
        and bool(reasons)
        and not any("tool" in reason.lower() or "function" in reason.lower() for reason in reasons)
    )


def _is_executed(call: CallDraft) -> bool:
    return call.execution is not None or call.seen is not None


def _to_the_user(text: str, told: str | None) -> str:
    """What of the last words was given to the user: the run's own output where it is a later part of them."""
    if told and told.strip() in text and not text.startswith(told.strip()):
        return told
    return text


def _output_call(call: CallDraft) -> str | None:
    if not is_output(call.name):
        return None
    arguments = call.arguments
    if isinstance(arguments, dict):
        if len(arguments) == 1:
            return as_text(next(iter(arguments.values())))
        return as_text(arguments) if arguments else (call.tool.result if call.tool is not None else None)
    return arguments if isinstance(arguments, str) else None


def _told_answer(top: Node | None, agents: Sequence[Node]) -> str | None:
    """The answer as the run's own span, or the first agent's in it, has it."""
    first = islice((node for node in agents if node.tool is None), 2)
    for node in [top, *first][:2] if top is not None else first:
        facts = node.facts
        if facts is None:
            continue
        if facts.output_text:
            return None if _is_error(facts.output_text, facts.error) else facts.output_text
        said = _last_words(node)
        if said is not None:
            return said
    return None


def _is_error(text: str, error: str | None) -> bool:
    """Whether what stands as an output only says how the span failed."""
    return error is not None and error != "" and error in text


def _last_words(node: Node) -> str | None:
    """What an agent's span gives as its last words, if they ask for nothing."""
    last = node.facts.output[-1] if node.facts is not None and node.facts.output else None
    is_answer = last is not None and last.role is Role.ASSISTANT and not last.calls
    return last.text or None if last is not None and is_answer else None


def _is_echo(told: str, last: Draft) -> bool:
    """Whether the text is only what the last turn said beside its calls."""
    return bool(last.calls) and told.strip() == (last.text or "").strip()
