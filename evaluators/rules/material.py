"""Everything that was written before an answer: what its author could have known.

In goes a run and the place of the answer in it, out come the texts, arguments and results up to there, and whether all
of it was captured.  Where something is missing or cut, nobody can claim that a value stands nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.cases import Arguments, Message, ResponseCase, Role, Run, ToolCall, Turn
from evaluators.rules.tool_names import is_output

_MOST_TURNS = 1_000
_MOST_LOOSE_CALLS = 1_000


@dataclass(frozen=True, slots=True)
class Material:
    """What stood before an answer.

    `texts` are those of users, instructions, earlier answers and of results that no call claims; `calls` those whose
    results were there, oldest first; `complete` says that nothing of it was cut or not captured.  `cut`: it is only the
    latest of a very long run.
    """

    texts: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    arguments: tuple[Arguments, ...]
    complete: bool
    cut: bool = False

    @property
    def chars(self) -> int:
        """How much text the messages and results are."""
        results = [call.result for call in self.calls if call.result is not None]
        return sum(map(len, self.texts)) + sum(len(r.content or "") + len(r.error or "") for r in results)


def material_of(case: ResponseCase) -> Material:
    """What stood before the answer of `case`."""
    turn = case.turn
    end = len(case.run.turns) if turn is None else turn.index
    before = case.run.turns[max(end - _MOST_TURNS, 0) : end]
    loose = case.run.loose_calls[-_MOST_LOOSE_CALLS:]
    cut = len(before) < end or len(loose) < len(case.run.loose_calls)
    calls = _calls(case, before, loose)
    texts: list[str] = []
    complete = not case.run.partial and not cut
    if turn is not None and turn.context is not None:
        said, whole = _of_messages(turn.context, {call.id for call in calls})
        texts += said
        complete = complete and whole
    else:
        # documents and memories that were put into the prompt are in no other place
        complete = False
    texts += [*(case.run.user_inputs or ()), *case.run.system_prompts]
    texts += [t.text for t in before if t.text]
    for tool in (turn.tools or ()) if turn is not None else ():
        texts += _descriptions(tool.description, tool.parameters)
    complete = complete and all(_known(call) for call in calls)
    return Material(
        texts=tuple(dict.fromkeys(texts)),
        calls=tuple(calls),
        arguments=tuple(call.arguments for call in calls if call.arguments is not None),
        complete=complete,
        cut=cut,
    )


def answer_of(case: ResponseCase) -> str | None:
    """The text that was made of the results: the turn's, or the run's last where no turn was captured at all.

    Where agents answer by calling an output tool, it is that call's only argument.  Where the last turn's text wasn't
    captured but the run's answer was, it is the answer.
    """
    turn, run = case.turn, case.run
    if turn is None:
        return None if run.turns else run.final_answer
    if not turn.text and (delivered := _delivered(turn)) is not None:
        return delivered
    if turn.text is None and not turn.calls and turn.error is None and turn.index == len(run.turns) - 1:
        return run.final_answer
    return turn.text


def answers_only(turn: Turn) -> bool:
    """Whether a turn asks for nothing: it makes no calls, or none but of the tool that takes the answer."""
    return not turn.calls or _delivered(turn) is not None


def _delivered(turn: Turn) -> str | None:
    """The answer that a turn gives in the only argument of its only call."""
    if len(turn.calls) != 1 or not is_output(turn.calls[0]):
        return None
    arguments = turn.calls[0].arguments
    if isinstance(arguments, str) or arguments is None or len(arguments) != 1:
        return None
    (answer,) = arguments.values()
    return answer if isinstance(answer, str) else None


def _calls(case: ResponseCase, before: Sequence[Turn], loose: Sequence[ToolCall]) -> list[ToolCall]:
    found = {call.id: call for turn in before for call in turn.calls}
    found.update({call.id: call for call in case.calls})
    # what an earlier run called and never showed stands in no result, but in the messages that tell of it
    found.update({call.id: call for call in loose if call.result is not None or not call.earlier})
    return list(found.values())


def _known(call: ToolCall) -> bool:
    if call.is_handoff or call.awaiting_approval:
        return True
    result = call.result
    return result is not None and not result.truncated and (result.content is not None or result.error is not None)


def _of_messages(context: tuple[Message, ...], known_calls: set[str]) -> tuple[list[str], bool]:
    texts: list[str] = []
    whole = True
    for message in context:
        if message.truncated or (message.text is None and message.role in (Role.USER, Role.SYSTEM)):
            whole = False
        if message.text and not (message.role is Role.TOOL and message.call_id in known_calls):
            texts.append(message.text)
        for call in message.calls:
            if isinstance(call.arguments, str):
                texts.append(call.arguments)
            elif call.arguments is not None and call.id not in known_calls:
                texts.append(str(dict(call.arguments)))
    return texts, whole


def _descriptions(description: str | None, parameters: object) -> list[str]:
    """The words with which a tool was offered, for the numbers in them (limits, fees, defaults)."""
    return [str(part) for part in (description, parameters) if part]


def user_texts(run: Run, turn: Turn | None) -> tuple[str, ...]:
    """What the user said before the answer."""
    said = list(run.user_inputs or ())
    if turn is not None and turn.context is not None:
        said += [message.text for message in turn.context if message.role is Role.USER and message.text]
    return tuple(dict.fromkeys(said))
