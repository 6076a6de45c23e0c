"""CrewAI: crews and tasks in attributes, the conversation in the task's output."""

from __future__ import annotations

import json

from evaluators.cases import JsonValue
from processors.conventions.facts import Kind
from tests.processors.conventions.told import calls, texts, told
from tests.processors.spans_of import Trace, asks, returns, says, system, user

ASKED = "Is there a copy of Dune that I can lend?"
MESSAGES = [
    system("You are Desk. You know books.\nYour personal goal is: Help readers"),
    user(f"\nCurrent Task: {ASKED}\n\nThis is the expected criteria for your final answer: short"),
    asks("c1", "find_book", {"title": "Dune"}),
    returns("c1", '{"copies": 2}'),
    says("Two copies are in."),
]
DESK: dict[str, JsonValue] = {"role": "Desk", "goal": "Help readers", "backstory": "You know books."}
FIND_BOOK = (
    "name='find_book' description='Finds a book.' env_vars=[] args_schema=<class 'desk.FindBook'> "
    "cache_function=<function cached at 0x7f01> agents=[Agent(role=Desk, goal=Help)]"
)


def crew(*tasks: str, answer: str = "Two copies are in.", **agent: JsonValue) -> dict[str, JsonValue]:
    return {
        "openinference.span.kind": "CHAIN",
        "crew_tasks": json.dumps([{"description": task, "expected_output": "short"} for task in tasks]),
        "crew_agents": json.dumps([{**DESK, "tools_names": ["find_book"], **agent}]),
        "output.value": json.dumps({"raw": answer, "tasks_output": []}),
    }


def at_work(task: str, messages: list[dict[str, JsonValue]] | None, answer: str) -> dict[str, JsonValue]:
    output: dict[str, JsonValue] = {"description": task, "raw": answer}
    if messages is not None:
        output["messages"] = messages
    return {
        "openinference.span.kind": "AGENT",
        "task_key": "k",
        "graph.node.id": "Desk",
        "input.value": json.dumps({"agent": DESK, "context": "", "tools": [FIND_BOOK]}),
        "output.value": json.dumps(output),
    }


def test_a_crew_says_what_it_was_asked_by_whom_it_is_worked_on_and_what_came_of_it() -> None:
    facts = told(crew(ASKED))
    assert texts(facts) == [("user", ASKED)]
    assert facts.system == ("Desk\nHelp readers\nYou know books.",)
    assert facts.tools is not None and [tool.name for tool in facts.tools] == ["find_book"]
    assert facts.output_text == "Two copies are in."


def test_a_crew_whose_agents_may_delegate_has_more_tools_than_are_listed() -> None:
    assert not told(crew(ASKED)).tools_cut
    assert told(crew(ASKED, delegation_enabled=True)).tools_cut


def test_a_coworker_without_a_span_had_those_of_the_crews_tools_that_it_called() -> None:
    for called, offered in (("find_book", ["find_book"]), ("shell", None)):
        trace = Trace()
        trace.add("crew", crew(ASKED, delegation_enabled=True))
        trace.add("desk", at_work(ASKED, None, "Two copies are in."), under="crew")
        trace.tool("delegate", "delegate_work_to_coworker", {"coworker": "Stacks"}, "Two.", under="desk")
        trace.tool("tool", called, {"title": "Dune"}, '{"copies": 2}', under="delegate")
        call = next(call for call in trace.run().loose_calls if call.ref == "tool")
        assert (call.offered and [tool.name for tool in call.offered]) == offered


def test_an_agent_at_work_has_its_conversation_and_its_tools() -> None:
    facts = told(at_work(ASKED, MESSAGES, "Two copies are in."))
    assert facts.kind is Kind.AGENT and facts.agent_name == "Desk"
    assert [role for role, _ in texts(facts)] == ["system", "user"]
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert facts.tools is not None and [(tool.name, tool.description) for tool in facts.tools] == [
        ("find_book", "Finds a book.")
    ]


def test_tools_are_named_as_the_model_calls_them() -> None:
    attributes = at_work(ASKED, None, "")
    tool = FIND_BOOK.replace("find_book", "Delegate work to coworker")
    attributes["input.value"] = json.dumps({"agent": DESK, "tools": [tool]})
    facts = told(attributes)
    assert facts.tools is not None and facts.tools[0].name == "delegate_work_to_coworker"


def test_a_run_of_a_crew_is_told_by_its_agents_spans() -> None:
    trace = Trace()
    trace.add("crew", crew(ASKED))
    trace.add("desk", at_work(ASKED, MESSAGES, "Two copies are in."), under="crew")
    trace.tool("tool", "find_book", {"title": "Dune"}, '{"copies": 2}', under="desk")
    run = trace.run()
    assert run.user_inputs == (ASKED,)
    assert run.final_answer == "Two copies are in."
    assert [(call.id, call.ref, call.from_model) for call in run.calls] == [("c1", "tool", True)]


def test_each_task_of_a_crew_is_a_task_of_the_user() -> None:
    second = "Write a note to the reader about it."
    trace = Trace()
    trace.add("crew", crew(ASKED, second, answer="Dear reader"))
    trace.add("desk", at_work(ASKED, MESSAGES, "Two copies are in."), under="crew")
    note = [system("You are Clerk."), user(f"\nCurrent Task: {second}\n\nThis is"), says("Dear reader")]
    trace.add("clerk", at_work(second, note, "Dear reader"), under="crew")
    run = trace.run()
    assert run.user_inputs == (ASKED, second)
    assert (len(run.turns), run.final_answer) == (3, "Dear reader")


def test_versions_without_messages_still_tell_instructions_and_answer() -> None:
    trace = Trace()
    trace.add("crew", crew(ASKED))
    trace.add("desk", at_work(ASKED, None, "Two copies are in."), under="crew")
    trace.tool("tool", "find_book", {"title": "Dune"}, '{"copies": 2}', under="desk")
    run = trace.run()
    assert (run.user_inputs, run.final_answer) == ((ASKED,), "Two copies are in.")
    assert [(call.name, call.from_model) for call in run.calls] == [("find_book", False)]
    assert run.system_prompts == ("Desk\nHelp readers\nYou know books.",)


def test_a_crew_as_openllmetry_tells_of_it() -> None:
    output = f"[TaskOutput(description={ASKED!r}, output_format=<OutputFormat.RAW: 'raw'>, messages={MESSAGES!r})]"
    facts = told(
        {
            "gen_ai.operation.name": "invoke_agent",
            "crewai.crew.tasks": json.dumps([{"description": ASKED}]),
            "crewai.crew.agents": json.dumps([{**DESK, "allow_delegation": False, "tools": [{"name": "find_book"}]}]),
            "crewai.crew.result": "Two copies are in.",
            "crewai.crew.tasks_output": output,
        }
    )
    assert (facts.input_text, facts.output_text) == (ASKED, "Two copies are in.")
    assert calls(facts) == [("find_book", "c1", {"title": "Dune"})]
    assert facts.tools is not None and [tool.name for tool in facts.tools] == ["find_book"]
