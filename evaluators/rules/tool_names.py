"""Names of tools: which offered tool a call means, and which names are no tools of the agent's own.

In: the name of a call as the model or an instrumentation wrote it, and the tools that were offered.  Out: the tool, or
None.  Spellings differ between a provider, a framework and an instrumentation (`server.tool`, `server__tool`,
`functions.tool`, `tool-name`); none of that makes a tool unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from evaluators.cases import Tool, ToolCall

_LONGEST_NAME = 500
_SEPARATOR = re.compile(r"__|[./:]")
_NOT_A_LETTER = re.compile(r"[^0-9a-z\u0080-\U0010ffff]+")
_HANDOFF = re.compile(
    r"(?:transfer|hand_?off|delegate_?control)_?(?:back_?)?to_.*|hand_?off.*|transfer_to_agent|transfer_back_to_.*"
)
_OUTPUT = re.compile(
    r"final_?(?:answer|result|output|response)|finish(?:ed)?|submit_?(?:final_)?(?:answer|result)|structured_?output"
    r"|__?structured_?output_?_?"
)
_PROVIDERS_OWN = re.compile(
    r"web_?search(?:_(?:preview|call))?(?:_\d+)*|file_?search(?:_call)?|code_?interpreter(?:_call)?|code_?execution"
    r"|computer(?:_use)?(?:_preview|_call)?(?:_\d+)*|image_?generation(?:_call)?|google_?search(?:_retrieval)?"
    r"|url_?context|mcp_?list_?tools|local_?shell(?:_call)?"
)
_OFTEN_UNLISTED = re.compile(
    r"final_result_.*|.*_(?:response|output|answer|result)|response(?:_format)?|respond|return_?type|json_tool_call|submit"
    r"|done|complete_task|task_completed?|attempt_completion|exit_loop|escalate|ask_(?:user|human)|human(?:_input)?"
    r"|delegate_.*|ask_question_to_.*|call_(?:sub_?)?agent|(?:sub_?)?agent_.*|multi_tool_use.*|bash|shell|python|memory"
    r"|str_replace_.*|text_editor|load_web_page|fetch_url"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_NO_SUCH_TOOL = re.compile(
    r"\b(?:no|no such|unknown|invalid|unavailable|unrecogni[sz]ed|non-?existent|undefined) (?:tool|function)\b"
    r"(?! (?:arg|param|input|call arg))"
    r"|no_?such_?tool|\bunknown_tool\b|\bnot a (?:valid|known|registered) (?:tool|function)\b"
    r"|\b(?:tool|function) \S{1,80} (?:was |is |does |could |has )?not (?:been )?(?:be )?"
    r"(?:found|exist|registered|available|defined|recogni[sz]ed)"
    r"|\b(?:tool|function) \S{1,80} (?:doesn't exist|isn't (?:registered|available))"
    r"|未知(?:的)?工具|工具[^，。；]{0,40}(?:不存在|未注册)|没有名为[^，。；]{0,40}的?工具",
    re.IGNORECASE,
)


def says_no_such_tool(text: str) -> bool:
    """Whether a result or error says that there is no tool of the name that was called."""
    return _NO_SUCH_TOOL.search(text) is not None


def find_tool(name: str, tools: Sequence[Tool]) -> Tool | None:
    """The tool that a call of this name means: the exact name first, else the same name in another spelling."""
    exact = next((tool for tool in tools if tool.name == name), None)
    if exact is not None:
        return exact
    wanted, last = _squeezed(name), _squeezed(_last(name))
    for tool in tools:
        if _squeezed(tool.name) == wanted:
            return tool
    for tool in tools:
        if last and last in (_squeezed(tool.name), _squeezed(_last(tool.name))):
            return tool
    return None


def may_be_unlisted(name: str, tools: Sequence[Tool]) -> bool:
    """Whether a name that isn't on offer may be a tool all the same.

    Frameworks and providers add tools of their own without listing them (output tools under the name of a type,
    delegations, shells), and some put a server's name before a tool's with no more than an underscore.
    """
    plain = _plain(_CAMEL.sub("_", name))
    if _OFTEN_UNLISTED.fullmatch(plain) is not None:
        return True
    for tool in tools:
        offered = _plain(_CAMEL.sub("_", tool.name))
        if "_" in offered and (plain.endswith(f"_{offered}") or ("_" in plain and offered.endswith(f"_{plain}"))):
            return True
    return False


def is_plumbing(call: ToolCall) -> bool:
    """Whether the call hands over to another agent or delivers the final output: no tool use to be judged."""
    return call.is_handoff or _is_handoff_name(call.name[:_LONGEST_NAME]) or is_output(call)


def is_output(call: ToolCall) -> bool:
    """Whether the call delivers the final output, as far as its name tells."""
    return _is_output_name(call.name[:_LONGEST_NAME])


@lru_cache(maxsize=2_000)
def _is_handoff_name(name: str) -> bool:
    return _HANDOFF.fullmatch(_plain(name)) is not None


@lru_cache(maxsize=2_000)
def _is_output_name(name: str) -> bool:
    return _OUTPUT.fullmatch(_plain(name)) is not None


def is_providers_own(call: ToolCall) -> bool:
    """Whether the provider runs this tool itself; such tools are seldom in the captured list."""
    return call.provider_executed or _PROVIDERS_OWN.fullmatch(_plain(call.name)) is not None


def _last(name: str) -> str:
    return _SEPARATOR.split(name)[-1]


@lru_cache(maxsize=2_000)
def _squeeze(name: str) -> str:
    return _plain(name).replace("_", "")


def _squeezed(name: str) -> str:
    """The name without what only spellings differ in: getWeather, get-weather and get_weather are one."""
    return _squeeze(name[:_LONGEST_NAME])


def _plain(name: str) -> str:
    return _NOT_A_LETTER.sub("_", name.casefold()).strip("_")
