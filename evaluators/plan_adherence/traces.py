"""What the record shows by itself of a plan's steps: tools that they name, and the states a kept list ends with.

In go a run and a plan, out comes for every step what is known of it without a model.  A step is called left out for
certain only if nothing speaks for any other reading: see `left_out`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.cases import Plan, PlanState, PlanStep, Run, ToolCall
from evaluators.judge.question import call_name
from evaluators.plans.kept import keeps_plan
from evaluators.plans.naming import tools_named
from evaluators.rules.secrets import shown
from evaluators.rules.tool_names import is_plumbing

_MOST_CALLS = 5
_LONGEST_NAME = 60
_MOST_READ_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Traced:
    """What is known of a step.

    `tools` are those that it names, `calls` the first calls of these since the plan was made, `first` the place of the
    first among all calls.
    """

    number: int
    step: PlanStep
    tools: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    first: int | None

    @property
    def is_open(self) -> bool:
        """Whether the list that the agent keeps ends with this step not done."""
        return self.step.state in (PlanState.PENDING, PlanState.IN_PROGRESS)


def trace_plan(run: Run, plan: Plan, first_number: int = 1) -> list[Traced]:
    """The steps of a plan in order, numbered from `first_number`."""
    offered = dict.fromkeys(tool.name for turn in run.turns for tool in turn.tools or ())
    made = [call for turn in run.turns if turn.index >= plan.turn for call in turn.calls] + list(run.loose_calls)
    made = [call for call in made if not (call.earlier or is_plumbing(call) or keeps_plan(call.name))]
    names = dict.fromkeys([*offered, *(call.name for call in made)])
    at = {call.name: place for place, call in reversed(list(enumerate(made)))}
    traced = []
    for number, step in enumerate(plan.steps, first_number):
        tools = tools_named(step.text, names)
        traced.append(
            Traced(
                number=number,
                step=step,
                tools=tuple(tools),
                calls=tuple(call for call in made if call.name in tools)[:_MOST_CALLS],
                first=min((at[name] for name in tools if name in at), default=None),
            )
        )
    return traced


def findings(steps: Sequence[Traced]) -> list[str]:
    """What is known of the steps, in words for a judge."""
    told = []
    for one in steps:
        known = []
        if one.tools:
            names = ", ".join(shown(name, _LONGEST_NAME) for name in one.tools)
            calls = ", ".join(call_name(call.id) for call in one.calls)
            known.append(f"names {names}: called as {calls}" if calls else f"names {names}, which was never called")
        if one.step.state is not None:
            known.append(f"the agent's list ends with it {one.step.state.value.replace('_', ' ')}")
        if known:
            told.append(f"Step {one.number} {'; '.join(known)}.")
    return told


def reordered(steps: Sequence[Traced]) -> list[Traced]:
    """Steps whose tool was called before that of the step before, each with calls of its own."""
    found, latest = [], -1
    for one in steps:
        if one.first is None:
            continue
        if one.first < latest:
            found.append(one)
        latest = max(latest, one.first)
    return found


def left_out(run: Run, plan: Plan, steps: Sequence[Traced]) -> list[Traced]:
    """Steps that were certainly left out, for no reason that could be one.

    The step names a tool that was on offer and was never called; it stands under no condition; the user asked for it in
    words of its tool; nothing failed, nobody interrupted, the run went through and ended with an answer that asks
    nothing; and neither that answer nor anything the agent said, asked its tools or was told by them after the plan
    speaks of it, nor is there a word of something that couldn't or shouldn't be done.
    """
    turns = [turn for turn in run.turns if turn.index >= plan.turn]
    if not turns or len({turn.user_turn for turn in turns}) > 1 or run.partial or run.truncated or run.aborted:
        return []
    if not run.final_answer or any(call.result is None or call.result.failed for call in run.calls if _runs(call)):
        return []
    said = " ".join([*(turn.text or "" for turn in turns if turn.index > plan.turn), run.final_answer])
    if any(turn.text is None and not turn.calls for turn in turns) or _UNABLE.search(said) is not None:
        return []
    if _ASKS.search(run.final_answer) is not None:
        return []
    asked = " ".join(run.user_inputs or ())
    done = " ".join([said, *(text for call in run.calls if _runs(call) for text in _about(call))])
    return [
        one
        for one in steps
        if len(one.tools) == 1
        and not one.calls
        and one.step.state is not PlanState.CANCELLED
        and _CONDITION.search(one.step.text) is None
        and _speaks_of(one.tools[0], asked)
        and not _speaks_of(one.tools[0], done)
    ]


def _about(call: ToolCall) -> tuple[str, str]:
    """What a call was given and what it brought: another tool may have done the step."""
    content = call.result.content if call.result is not None else None
    return str(call.arguments or "")[:_MOST_READ_CHARS], (content or "")[:_MOST_READ_CHARS]


def _runs(call: ToolCall) -> bool:
    return not (is_plumbing(call) or call.earlier)


def _speaks_of(tool: str, text: str) -> bool:
    """Whether a text has any word of a tool's name but its verb, in singular or plural."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", tool)[1:]
    folded = text.casefold()
    return any(word.casefold().removesuffix("s") in folded for word in words if len(word) > 2)


_CONDITION = re.compile(
    r"\b(?:if|when|unless|in case|otherwise|optional\w*|as needed|where needed|maybe|possibly|or|alternatively|until)\b"
    r"|如果|若|如有|必要时|视情况|可选|或者|否则|除非|もし|必要なら|만약|필요하면"
    r"|\b(?:falls|wenn|gegebenenfalls|bei bedarf|si|au besoin|en caso|se|quando|oder|ou|oppure)\b|\bесли\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]|\blet me know\b|\btell me\b|告诉我|是否|要不要|请确认|教えて|알려", re.IGNORECASE)
_UNABLE = re.compile(
    r"\b(?:can(?:no|')t|cannot|couldn't|could not|unable|unfortunately|sorry|not (?:possible|available|allowed|found)"
    r"|postpone\w*|recommend\w*|advis\w*|suggest\w*|rather|better|avoid|wait|cancel\w*|stop\w*|should|no longer"
    r"|suspend\w*|declin\w*|fail\w*|error|instead|however|but|unnecessary|no need|skip\w*|already|won't)\b"
    r"|无法|不能|抱歉|对不起|很遗憾|没有|失败|不可用|已经|但是|不过|无需|不需要|建议|推迟|暂缓|最好|取消|停止"
    r"|できません|申し訳|없습니다|죄송"
    r"|\b(?:empfehl\w*|lieber|verschieb\w*|rate|conseill\w*|mieux|recomiend\w*|mejor|melhor|leider|nicht|désolé|pas"
    r"|lo siento|no pude|não|non)\b|\bне\b",
    re.IGNORECASE,
)
