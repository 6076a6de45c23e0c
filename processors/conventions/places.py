"""Where each vocabulary keeps the facts that evaluators need: by fact, the attribute or log record that carries it."""

from __future__ import annotations

from processors.conventions.fact_names import (
    ARGUMENTS,
    FINAL_ANSWER,
    SCHEMAS,
    SYSTEM_PROMPT,
    TOOL_CALLS,
    TOOL_RESULTS,
    TOOLS,
    USER_INPUT,
)


def _places(
    *,
    given: str,
    said: str,
    arguments: str,
    result: str,
    tools: str,
    system: str | None = None,
    schemas: str | None = None,
    answer: str | None = None,
) -> dict[str, str]:
    return {
        USER_INPUT: given,
        SYSTEM_PROMPT: system or given,
        TOOLS: tools,
        SCHEMAS: schemas or tools,
        TOOL_CALLS: said,
        ARGUMENTS: arguments,
        TOOL_RESULTS: result,
        FINAL_ANSWER: answer or said,
    }


OPENINFERENCE = _places(
    given="llm.input_messages or input.value",
    system="llm.input_messages",
    tools="llm.tools",
    schemas="llm.tools.N.tool.json_schema",
    said="llm.output_messages",
    arguments="llm.output_messages or input.value of tool spans",
    result="output.value of tool spans",
    answer="llm.output_messages or output.value",
)
GENAI = _places(
    given="gen_ai.input.messages",
    system="gen_ai.system_instructions or gen_ai.input.messages",
    tools="gen_ai.tool.definitions",
    schemas="gen_ai.tool.definitions with parameters",
    said="gen_ai.output.messages",
    arguments="gen_ai.tool.call.arguments",
    result="gen_ai.tool.call.result",
)
RECORDS = _places(
    given="a log record gen_ai.user.message",
    system="a log record gen_ai.system.message",
    tools="gen_ai.tool.definitions",
    said="a log record gen_ai.choice",
    arguments="a log record gen_ai.choice",
    result="a log record gen_ai.tool.message",
)
ENTITIES = {
    **GENAI,
    ARGUMENTS: "gen_ai.output.messages or traceloop.entity.input of tool spans",
    TOOL_RESULTS: "traceloop.entity.output of tool spans",
}
VERCEL = _places(
    given="ai.prompt or ai.prompt.messages",
    tools="ai.prompt.tools",
    said="ai.response.text and ai.response.toolCalls",
    arguments="ai.toolCall.args",
    result="ai.toolCall.result",
    answer="ai.response.text",
)
ONE_STRING = _places(
    given="gen_ai.prompt",
    tools="gen_ai.tool.definitions",
    said="gen_ai.completion",
    arguments="gen_ai.prompt of tool spans",
    result="gen_ai.completion of tool spans",
)
LANGFUSE = _places(
    given="langfuse.observation.input",
    tools="langfuse.observation.input of generations",
    said="langfuse.observation.output of generations",
    arguments="langfuse.observation.input of tools",
    result="langfuse.observation.output of tools",
)
MLFLOW = _places(
    given="mlflow.spanInputs",
    tools="mlflow.chat.tools",
    said="mlflow.spanOutputs",
    arguments="mlflow.spanInputs of tool spans",
    result="mlflow.spanOutputs of tool spans",
)
SPRING_AI = _places(
    given="gen_ai.input.messages",
    tools="spring.ai.model.request.tool.names",
    schemas="spring.ai.tool.definition.schema of tool spans",
    said="gen_ai.output.messages",
    arguments="spring.ai.tool.call.arguments",
    result="spring.ai.tool.call.result",
)
GENKIT = _places(
    given="genkit:input of model spans",
    tools="genkit:input of model spans",
    said="genkit:output of model spans",
    arguments="genkit:input of tool spans",
    result="genkit:output of tool spans",
)
MASTRA = _places(
    given="mastra.model_step.input",
    system="gen_ai.system_instructions",
    tools="gen_ai.tool.definitions",
    said="mastra.model_step.output",
    arguments="gen_ai.tool.call.arguments",
    result="gen_ai.tool.call.result",
)
VOLTAGENT = _places(
    given="agent.messages",
    system="agent.instructions",
    tools="agent.stateSnapshot",
    said="input of tool spans",
    arguments="input of tool spans",
    result="output of tool spans",
    answer="output of agent spans",
)
CLAUDE_CODE = _places(
    given="user_prompt, or a log record user_prompt",
    system="a log record api_request_body",
    tools="a log record api_request_body",
    said="a log record api_response_body",
    arguments="the event tool.output of tool spans, or a log record tool_result",
    result="the event tool.output of tool spans",
    answer="a log record assistant_response",
)
HAYSTACK = _places(
    given="haystack.agent.input",
    tools="haystack.agent.tools",
    said="haystack.agent.step.llm.output",
    arguments="haystack.agent.step.tool.input",
    result="haystack.agent.step.tool.output",
    answer="haystack.agent.output",
)
