"""A LlamaIndex agent, instrumented as DESK_INSTRUMENTATION says: openinference, genai or traceloop.

DESK_STREAM=off. DESK_KIND: "function" (FunctionAgent) or "workflow" (AgentWorkflow). DESK_TEAM=handoff: two agents in
a workflow.
"""

from __future__ import annotations

import asyncio
import os

import desk
import telemetry


def instrument() -> None:
    name = os.environ.get("DESK_INSTRUMENTATION", "openinference")
    if name == "genai":
        from opentelemetry.instrumentation.genai.llama_index import LlamaIndexInstrumentor as Instrumentor
    elif name == "traceloop":
        from opentelemetry.instrumentation.llamaindex import LlamaIndexInstrumentor as Instrumentor
    else:
        from openinference.instrumentation.llama_index import LlamaIndexInstrumentor as Instrumentor
    Instrumentor().instrument()


async def main() -> None:
    from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
    from llama_index.core.memory import ChatMemoryBuffer
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai_like import OpenAILike

    model = OpenAILike(
        model=desk.MODEL,
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
    )
    tools = [FunctionTool.from_defaults(function) for function in desk.functions()]
    streaming = os.environ.get("DESK_STREAM") != "off"
    team = os.environ.get("DESK_TEAM") == "handoff"
    clerk = FunctionAgent(
        name="desk",
        description="Receives readers.",
        system_prompt=desk.system(),
        tools=[] if team else tools,
        llm=model,
        streaming=streaming,
        can_handoff_to=["catalogue"] if team else None,
    )
    if team:
        catalogue = FunctionAgent(
            name="catalogue",
            description="Knows the catalogue.",
            system_prompt="You know the catalogue.",
            tools=tools,
            llm=model,
            streaming=streaming,
        )
        clerk = AgentWorkflow(agents=[clerk, catalogue], root_agent="desk")
    elif os.environ.get("DESK_KIND") == "workflow":
        clerk = AgentWorkflow(agents=[clerk], root_agent="desk")
    memory = ChatMemoryBuffer.from_defaults(llm=model)
    for user in desk.users():
        await clerk.run(user, memory=memory)


with telemetry.recorded(logs=True):
    instrument()
    asyncio.run(main())
