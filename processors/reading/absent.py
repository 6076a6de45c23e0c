"""What a transcript lacks, and how to make the instrumentation provide it."""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.cases import Run
from processors.transcript import Missing

USER_INPUT = "user_input"
SYSTEM_PROMPT = "system_prompt"
TOOLS = "tools"
SCHEMAS = "schemas"
TOOL_CALLS = "tool_calls"
ARGUMENTS = "arguments"
TOOL_RESULTS = "tool_results"
FINAL_ANSWER = "final_answer"

_ATTRIBUTES = {
    USER_INPUT: ("llm.input_messages or input.value", "gen_ai.input.messages"),
    SYSTEM_PROMPT: ("llm.input_messages", "gen_ai.system_instructions or gen_ai.input.messages"),
    TOOLS: ("llm.tools", "gen_ai.tool.definitions"),
    SCHEMAS: ("llm.tools.N.tool.json_schema", "gen_ai.tool.definitions with parameters"),
    TOOL_CALLS: ("llm.output_messages", "gen_ai.output.messages"),
    ARGUMENTS: ("llm.output_messages or input.value of tool spans", "gen_ai.tool.call.arguments"),
    TOOL_RESULTS: ("output.value of tool spans", "gen_ai.tool.call.result"),
    FINAL_ANSWER: ("llm.output_messages or output.value", "gen_ai.output.messages"),
}
_OPENINFERENCE_SWITCH = "leave OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and their kind unset"
_GENAI_SWITCH = (
    "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT and "
    "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental (older versions: =true)"
)
_OTHER_SWITCH = "switch on the capture of message content in the instrumentation"


def absent_in(run: Run) -> tuple[str, ...]:
    """The facts that were looked for in a run and are not there. Nothing is missing that there was no reason for."""
    found: list[str] = []
    calls = [call for call in run.calls if not call.is_handoff]
    if run.user_inputs is None:
        found.append(USER_INPUT)
    captured = any(turn.text is not None for turn in run.turns)
    if not run.system_prompts and not any(turn.context for turn in run.turns):
        found.append(SYSTEM_PROMPT)
    if not any(turn.tools for turn in run.turns) and (calls or not captured):
        found.append(TOOLS)
    elif calls and not any(tool.parameters is not None for turn in run.turns for tool in turn.tools or ()):
        found.append(SCHEMAS)
    if run.turns and not captured:
        found.append(TOOL_CALLS)
    if any(call.arguments is None and not call.provider_executed for call in calls):
        found.append(ARGUMENTS)
    if any(
        call.result is not None and call.result.content is None and not call.result.error and not call.awaiting_approval
        for call in calls
    ):
        found.append(TOOL_RESULTS)
    last = run.turns[-1] if run.turns else None
    to_be_continued = last is not None and last.ref == run.ref and bool(last.calls)
    if run.final_answer is None and run.answered is None and not to_be_continued:
        found.append(FINAL_ANSWER)
    return tuple(found)


def with_remedies(facts: Iterable[str], dialects: Iterable[str]) -> tuple[Missing, ...]:
    """Each missing fact once, with the attribute that would carry it and the switch that provides it."""
    spoken = list(dialects)
    if "openinference" in spoken:
        at, switch = 0, _OPENINFERENCE_SWITCH
    elif "genai" in spoken:
        at, switch = 1, _GENAI_SWITCH
    else:
        at, switch = 1, _OTHER_SWITCH
    return tuple(Missing(fact=fact, remedy=f"{_ATTRIBUTES[fact][at]}: {switch}") for fact in dict.fromkeys(facts))
