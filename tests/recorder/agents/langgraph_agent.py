"""A LangChain agent on LangGraph, under one of several instrumentations.

DESK_INSTRUMENTATION: openinference, openinference-openai (the provider SDK's too), genai, traceloop,
traceloop-openai, langsmith, mlflow, laminar or openlit. DESK_API: "chat" (default), "responses" or "messages".
DESK_STREAM. DESK_ASYNC. DESK_OUTPUT: a structured answer, given by an output tool. DESK_SESSION: "thread" (default),
"metadata" or "none". DESK_GRAPH: a graph of own nodes instead of the prebuilt agent; "plan": with a node
that makes a plan first. DESK_TEAM: "delegate" (a second
agent is asked from within a tool), "supervisor" or "swarm" (hand-offs). DESK_TODOS: the agent keeps a list of todos.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os

import desk
import telemetry

NAME = os.environ.get("DESK_INSTRUMENTATION", "openinference")
SINK = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
if NAME == "langsmith":
    os.environ |= {"LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true", "LANGSMITH_TRACING": "true"}


@contextlib.contextmanager
def instrumented():
    """Instrumentations that bring their own OpenTelemetry set-up send by it; the others by ours."""
    if NAME == "mlflow":
        import mlflow

        mlflow.langchain.autolog()
        with desk.ending():
            yield
        mlflow.flush_trace_async_logging()
    elif NAME == "laminar":
        from lmnr import Laminar

        url, _, port = SINK.rpartition(":")
        Laminar.initialize(project_api_key="not-a-key", base_url=url, http_port=int(port), force_http=True)
        with desk.ending():
            yield
        Laminar.flush()
        Laminar.shutdown()
    elif NAME == "openlit":
        import openlit
        from opentelemetry import trace

        openlit.init(otlp_endpoint=SINK, application_name="library-desk", disable_metrics=True)
        with desk.ending():
            yield
        trace.get_tracer_provider().shutdown()
    else:
        with telemetry.recorded(logs=NAME == "genai"):
            instrument()
            yield
            if NAME == "langsmith":
                from langchain_core.tracers.langchain import wait_for_all_tracers

                wait_for_all_tracers()


def instrument() -> None:
    if NAME.startswith("openinference"):
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument()
    elif NAME == "genai":
        from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument()
    elif NAME.startswith("traceloop"):
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor

        LangchainInstrumentor().instrument()
    if NAME == "openinference-openai":
        from openinference.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument()
    elif NAME == "traceloop-openai":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument()


def telling(function):
    """A tool that tells the model of its errors instead of ending the run."""
    from langchain_core.tools import ToolException, tool

    @functools.wraps(function)
    def run(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            raise ToolException(str(error)) from error

    made = tool(run, parse_docstring=True)
    made.handle_tool_error = True
    return made


def chat_model():
    api = os.environ.get("DESK_API", "chat")
    if api == "messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=desk.MODEL, base_url=os.environ["ANTHROPIC_BASE_URL"], max_retries=0)
    from langchain_openai import ChatOpenAI

    streams = bool(os.environ.get("DESK_STREAM"))
    return ChatOpenAI(model=desk.MODEL, stream_usage=streams, use_responses_api=api == "responses", max_retries=0)


def agent():
    from langchain.agents import create_agent

    model = chat_model()
    tools = [telling(function) for function in desk.functions()]
    team = os.environ.get("DESK_TEAM")
    if os.environ.get("DESK_GRAPH"):
        return graph(model, tools)
    if not team:
        structured = {}
        if os.environ.get("DESK_OUTPUT"):
            from langchain.agents.structured_output import ToolStrategy

            schema = {
                "title": "final_answer",
                "description": "Answer the reader.",
                "type": "object",
                "properties": {"answer": {"type": "string"}},
                "required": ["answer"],
            }
            structured = {"response_format": ToolStrategy(schema)}
        if os.environ.get("DESK_TODOS"):
            from langchain.agents.middleware import TodoListMiddleware

            structured = {"middleware": [TodoListMiddleware()]}
        return create_agent(model, tools, system_prompt=desk.system(), name="desk", **structured)
    catalogue = create_agent(model, tools, system_prompt="You know the catalogue.", name="catalogue")
    if team == "supervisor":
        from langgraph_supervisor import create_supervisor

        made = create_supervisor([catalogue], model=model, prompt=desk.system(), supervisor_name="desk")
        return made.compile(name="library")
    if team == "swarm":
        from langgraph_swarm import create_handoff_tool, create_swarm

        transfer = create_handoff_tool(agent_name="catalogue")
        clerk = create_agent(model, [transfer], system_prompt=desk.system(), name="desk")
        return create_swarm([clerk, catalogue], default_active_agent="desk").compile(name="library")

    def ask_catalogue(question: str) -> str:
        """Ask the colleague who knows the catalogue."""
        return catalogue.invoke({"messages": [("user", question)]})["messages"][-1].content

    return create_agent(model, [ask_catalogue], system_prompt=desk.system(), name="desk")


def graph(model, tools):
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    asked = model.bind_tools(tools)
    words = desk.system()

    def think(state):
        return {"messages": [asked.invoke([("system", words), *state["messages"]])]}

    def further(state):
        return "act" if state["messages"][-1].tool_calls else END

    made = StateGraph(MessagesState)
    if os.environ["DESK_GRAPH"] == "plan":
        made.add_node("planner", planner(model))
    made.add_node("think", think)
    made.add_node("act", ToolNode(tools, handle_tool_errors=True))
    if os.environ["DESK_GRAPH"] == "plan":
        made.add_edge(START, "planner")
        made.add_edge("planner", "think")
    else:
        made.add_edge(START, "think")
    made.add_conditional_edges("think", further)
    made.add_edge("act", "think")
    return made.compile(name="desk")


def planner(model):
    from pydantic import BaseModel, Field

    class Plan(BaseModel):
        """The steps to take, in order."""

        steps: list[str] = Field(description="What to do, step by step.")

    planning = model.with_structured_output(Plan, method="function_calling")

    def plan(state):
        made = planning.invoke([("system", "Make a plan."), *state["messages"]])
        return {"messages": [("system", "Plan: " + "; ".join(made.steps))]}

    return plan


def config():
    kind = os.environ.get("DESK_SESSION", "thread")
    if kind == "none":
        return {}
    return (
        {"configurable": {"thread_id": desk.session()}}
        if kind == "thread"
        else {"metadata": {"session_id": desk.session()}}
    )


def main() -> None:
    clerk = agent()
    known = config()
    messages = []
    for user in desk.users():
        asked = {"messages": [*messages, ("user", user)]}
        if os.environ.get("DESK_STREAM"):
            states = clerk.stream(asked, config=known, stream_mode=["messages", "values"])
            messages = [state for mode, state in states if mode == "values"][-1]["messages"]
        elif os.environ.get("DESK_ASYNC"):
            messages = asyncio.run(clerk.ainvoke(asked, config=known))["messages"]
        else:
            messages = clerk.invoke(asked, config=known)["messages"]


with instrumented():
    main()
