"""A transcript for people: a tree of who said and did what, what is missing, and what can be judged.

Text from spans is shown as text: no markup in it is obeyed, and no control character reaches the terminal.
"""

from __future__ import annotations

import re

from rich.text import Text
from rich.tree import Tree

from evaluators.cases import Run, ToolCall, Turn
from processors.conventions.decoding.values import as_text
from processors.reading.readiness import lacking
from processors.transcript import Transcript
from processors.transcript_json import offered_tools

MAX_CHARS = 160
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")


def transcript_tree(transcript: Transcript) -> Tree:
    """The whole view of one trace."""
    head = Text.assemble(("trace ", "dim"), (transcript.trace_id, "bold"))
    if transcript.session_id:
        head.append(f"  session {printable(transcript.session_id)}", "dim")
    if transcript.continues:
        head.append(f"  goes on from {transcript.continues}", "dim")
    if transcript.dialects:
        head.append(f"  {', '.join(transcript.dialects)}", "dim")
    tree = Tree(head)
    for run in transcript.runs:
        _add_run(tree, run)
    if not transcript.runs:
        tree.add(Text("no model call, tool or agent was recognised", "yellow"))
    if transcript.unread:
        tree.add(Text(f"{len(transcript.unread)} spans are of no kind that is read", "dim"))
    if transcript.missing:
        _add_missing(tree.add(Text("not captured", "yellow")), transcript)
    return tree


def _add_missing(branch: Tree, transcript: Transcript) -> None:
    switches: dict[str, None] = {}
    for one in transcript.missing:
        attribute, _, switch = one.remedy.partition(": ")
        branch.add(Text.assemble((one.fact, "bold"), f" would be in {attribute}"))
        switches[switch] = None
    for switch in switches:
        branch.add(Text(f"to capture it: {switch}", "yellow"))


def _add_run(tree: Tree, run: Run) -> None:
    branch = tree.add(Text.assemble(("run", "bold"), (f" {run.ref}" if run.ref else "", "dim")))
    for prompt in run.system_prompts:
        branch.add(_line("system", prompt, "dim"))
    if run.user_inputs is None:
        branch.add(_line("user", None))
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
        _add_call(branch, call)
    if run.abort_reason is not None:
        branch.add(Text(f"aborted: {printable(run.abort_reason)}", "red"))
    elif run.answered is False:
        branch.add(Text("ended without an answer", "red"))
    else:
        branch.add(_line("answer", run.final_answer, "green"))
    tools = offered_tools([run])
    if tools:
        branch.add(Text(f"tools offered: {printable(', '.join(tool.name for tool in tools), 400)}", "dim"))
    _add_readiness(branch, run)


def _add_turn(branch: Tree, turn: Turn) -> None:
    who = printable(turn.agent) if turn.agent else "model"
    node = branch.add(_line(who, turn.text, "cyan") if turn.text != "" else Text(who, "cyan"))
    if turn.error is not None:
        node.add(Text(f"request failed: {printable(turn.error)}", "red"))
    for call in turn.calls:
        _add_call(node, call)


def _add_call(branch: Tree, call: ToolCall) -> None:
    kind = "hands over" if call.is_handoff else "calls"
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


def _add_readiness(branch: Tree, run: Run) -> None:
    line = Text("can be judged: ", "dim")
    for at, (evaluator, facts) in enumerate(lacking(run).items()):
        line.append(", " if at else "")
        line.append(evaluator, "yellow" if facts else "green")
        if facts:
            line.append(f" (lacks {', '.join(facts)})", "dim")
    branch.add(line)


def _line(who: str, text: str | None, style: str = "") -> Text:
    if text is None:
        return Text.assemble((f"{who}: ", "dim"), ("not captured", "yellow"))
    return Text.assemble((f"{who}: ", "dim"), (printable(text), style))


def printable(text: str, limit: int = MAX_CHARS) -> str:
    """A text on one line, without control characters, cut to a length."""
    plain = " ".join(_CONTROL.sub(" ", text[: 4 * limit]).split())
    return plain if len(plain) <= limit and len(text) <= 4 * limit else plain[: limit - 1] + "…"
