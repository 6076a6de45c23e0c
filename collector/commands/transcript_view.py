"""A transcript for people: a tree of who said and did what, what is missing, and what can be judged.

Text from spans is shown as text: no markup in it is obeyed, and no control character reaches the terminal.
"""

from __future__ import annotations

import re

from rich.text import Text
from rich.tree import Tree

from evaluators.cases import Plan, Run, ToolCall, Turn
from processors.conventions.decoding.values import as_text
from processors.inputs import inputs_found
from processors.reading.absent import FINAL_ANSWER
from processors.reading.readiness import lacking
from processors.transcript import Missing, Transcript
from processors.transcript_json import offered_tools

MAX_CHARS = 160
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")


def transcript_tree(transcript: Transcript) -> Tree:
    """The whole view of one trace."""
    head = Text.assemble(("trace ", "dim"), (transcript.trace_id, "bold"))
    if transcript.session_id:
        head.append(f"  session {printable(transcript.session_id)}", "dim")
    if transcript.dialects:
        head.append(f"  read as {', '.join(transcript.dialects)}", "dim")
    tree = Tree(head)
    if transcript.continues:
        tree.add(Text(f"goes on from trace {transcript.continues}", "dim"))
    for run in transcript.runs:
        _add_run(tree, run)
    if transcript.runs:
        _add_readiness(tree, transcript)
    else:
        tree.add(Text("no model call, tool or agent was recognised", "yellow"))
    if transcript.unread:
        spans = "1 span is" if len(transcript.unread) == 1 else f"{len(transcript.unread)} spans are"
        tree.add(Text(f"{spans} of no known convention, and not read", "dim"))
    if transcript.missing:
        _add_missing(tree.add(Text("not captured", "yellow")), transcript)
    return tree


def _add_missing(branch: Tree, transcript: Transcript) -> None:
    by_switch: dict[str, list[Missing]] = {}
    for one in transcript.missing:
        by_switch.setdefault(one.switch, []).append(one)
    for switch, found in by_switch.items():
        for one in found:
            branch.add(Text.assemble((one.fact, "bold"), f" would be in {one.attribute}"))
        branch.add(Text(f"to capture {'it' if len(found) == 1 else 'them'}: {switch}", "yellow"))


def _add_run(tree: Tree, run: Run) -> None:
    branch = tree.add(Text.assemble(("run", "bold"), (f" {run.ref}" if run.ref else "", "dim")))
    for prompt in run.system_prompts:
        branch.add(_line("system", prompt, "dim"))
    if run.user_inputs is None:
        branch.add(_line("user", None))
    for call in run.loose_calls:
        if call.earlier:
            _add_call(branch, call)
    shown: set[int] = set()
    for turn in run.turns:
        for at in range(turn.user_turn + 1):
            if at not in shown and run.user_inputs is not None and at < len(run.user_inputs):
                shown.add(at)
                branch.add(_line("user", run.user_inputs[at], "bold"))
        _add_turn(branch, turn)
    for at, text in enumerate(run.user_inputs or ()):
        if at not in shown:
            branch.add(_line("user", text, "bold"))
    for call in run.loose_calls:
        if not call.earlier:
            _add_call(branch, call)
    if run.abort_reason is not None:
        branch.add(Text(f"aborted: {printable(run.abort_reason)}", "red"))
    elif run.answered is False:
        branch.add(Text("ended without an answer", "red"))
    elif run.final_answer is None and FINAL_ANSWER not in run.missing:
        branch.add(Text("answer: none in this trace", "dim"))
    else:
        branch.add(_line("answer", run.final_answer, "green"))
    for plan in run.plans:
        _add_plan(branch, plan)
    tools = offered_tools([run])
    if tools:
        branch.add(Text(f"tools offered: {printable(', '.join(tool.name for tool in tools), 400)}", "dim"))


def _add_plan(branch: Tree, plan: Plan) -> None:
    change = ", in place of the one before" if plan.revises else ""
    node = branch.add(Text(f"plan ({plan.source.value}{change})", "dim"))
    for number, step in enumerate(plan.steps, 1):
        state = f" ({step.state.value.replace('_', ' ')})" if step.state is not None else ""
        node.add(Text(f"{number}. {printable(step.text)}{state}", "dim"))


def _add_turn(branch: Tree, turn: Turn) -> None:
    who = printable(turn.agent) if turn.agent else "model"
    node = branch.add(_line(who, turn.text, "cyan") if turn.text != "" else Text(who, "cyan"))
    if turn.error is not None:
        node.add(Text(f"request failed: {printable(turn.error)}", "red"))
    for call in turn.calls:
        _add_call(node, call)


def _add_call(branch: Tree, call: ToolCall) -> None:
    kind = "hands over" if call.is_handoff else "called before" if call.earlier else "calls"
    branch_text = Text.assemble((f"{kind} ", "dim"), (printable(call.name), "magenta"), f" {_arguments(call)}")
    node = branch.add(branch_text)
    result = call.result
    if call.awaiting_approval:
        node.add(Text("waits for approval", "yellow"))
    elif result is not None and result.error is not None:
        node.add(_line("failed", result.error or result.content or "(no text)", "red"))
    elif result is not None:
        node.add(_line("got", result.content))


def _arguments(call: ToolCall) -> str:
    if call.arguments is None:
        return "(arguments not captured)"
    if isinstance(call.arguments, str):
        return printable(call.arguments)
    return printable(as_text(dict(call.arguments)) or "")


def _add_readiness(tree: Tree, transcript: Transcript) -> None:
    """What evaluators find in the trace. Said in words: colours don't survive a pipe."""
    lacks = [lacking(run) for run in transcript.runs]
    ready, blocked, idle = Text(), Text(), Text()
    for name, found in inputs_found(transcript).items():
        line = idle if found is None else ready if found else blocked
        line.append(", " if line else "").append(name, None if found is None else "green" if found else "yellow")
        facts = dict.fromkeys(fact for one in lacks for fact in one[name])
        if found is False and facts:
            line.append(f" (lacks {', '.join(facts)})", "dim")
    for what, names in (("can be judged", ready), ("can't be judged", blocked), ("nothing to judge for", idle)):
        if names:
            tree.add(Text.assemble((f"{what}: ", "dim"), names))


def _line(who: str, text: str | None, style: str = "") -> Text:
    if text is None:
        return Text.assemble((f"{who}: ", "dim"), ("not captured", "yellow"))
    return Text.assemble((f"{who}: ", "dim"), (printable(text), style))


def printable(text: str, limit: int = MAX_CHARS) -> str:
    """A text on one line, without control characters, cut to a length."""
    plain = " ".join(_CONTROL.sub(" ", text[: 4 * limit]).split())
    return plain if len(plain) <= limit and len(text) <= 4 * limit else plain[: limit - 1] + "…"
