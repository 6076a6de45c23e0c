"""The tools of a run as a judge is shown them: what each is for and what it takes, once.

In: what was offered, and what was called.  Out: a block for each tool, and where it was on offer if not everywhere.
Questions about calls or results alone need less: see `evaluators.judge.question.ToolsTold`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from evaluators.judge.question import ToolsTold
from evaluators.judge.showing.notebook import Notebook
from evaluators.judge.showing.offers import Offers
from evaluators.judge.showing.pieces import Block, Piece, Quoted
from evaluators.judge.showing.signature import signature
from evaluators.judge.showing.wording import plain_name
from evaluators.judge.steering import Kind
from evaluators.rules.tool_names import find_tool


def tell_tools(offers: Offers, called: Collection[str], notebook: Notebook) -> None:
    """Write the definitions, and a block after them for what comes next; `called` are names that calls give."""
    if not offers.recorded:
        notebook.line("tools offered: not recorded")
        return
    notebook.line("tools offered" + (" at every turn" if offers.everywhere else ""))
    tools = [tool for _, tool in offers.definitions]
    meant = {tool.name for tool in (find_tool(name, tools) for name in called) if tool is not None}
    for name, tool in offers.definitions:
        notebook.blocks.append(Block(tool=plain_name(tool.name), called=tool.name in meant))
        notebook.tool_name(tool.name, Kind.DESCRIPTION, f"the name {name}")
        notebook.line(f"- {name}" + ("" if tool.parameters is not None else ", no schema recorded"))
        if tool.description:
            notebook.text("", tool.description, f"the description of {name}", Kind.DESCRIPTION)
        if tool.parameters is not None:
            takes = signature(tool.parameters, tool.name), f"the parameters of {name}", Kind.PARAMETERS
            if tool.description:
                notebook.more(*takes)
            else:
                notebook.text("", *takes)
    notebook.blocks.append(Block())
    for sentence in offers.sentences:
        notebook.line(sentence)


def with_tools(blocks: Sequence[Block], tools: ToolsTold) -> Sequence[Block]:
    """The blocks with no more of the tools than is asked for, and a word on what isn't told."""
    if tools is ToolsTold.ALL or all(block.tool is None for block in blocks):
        return blocks
    last = max(at for at, block in enumerate(blocks) if block.tool is not None)
    uncalled = sum(block.tool is not None and not block.called for block in blocks)
    called = [block for block in blocks if block.called]
    untold = [f"{uncalled} never called"] if uncalled else []
    if tools is ToolsTold.PURPOSES and called:
        called = [_purpose(block) for block in called]
        untold.insert(0, "parameters")
    note = [Block(pieces=[f"\n- not shown: {', '.join(untold)}"])] if untold else []
    before = [block for block in blocks[: last + 1] if block.tool is None]
    return [*before, *called, *note, *blocks[last + 1 :]]


def _purpose(block: Block) -> Block:
    return replace(block, pieces=[piece for piece in block.pieces if not _is_parameters(piece)])


def _is_parameters(piece: Piece) -> bool:
    return isinstance(piece, Quoted) and piece.kind is Kind.PARAMETERS
