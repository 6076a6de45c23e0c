"""The package as a library: what its first page promises."""

import evaluators
from evaluators import CallsCase, Run, Status, Tool, ToolCall, ToolInvocation, Turn, judge_by_rules


def test_the_example_of_the_first_page_gives_the_verdict_it_promises() -> None:
    call = ToolCall(id="c1", name="get_weather", arguments={"town": "Lima"})
    tool = Tool(name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
    turn = Turn(index=0, calls=(call,), tools=(tool,))
    run = Run(turns=(turn,), user_inputs=("How warm is it in Lima?",))
    verdict = judge_by_rules(ToolInvocation(), CallsCase(run=run, calls=(call,), turn=turn))
    assert (verdict.status, verdict.label) == (Status.OK, "incorrect")
    assert "`town` is not an argument that the schema knows" in verdict.explanation
    assert 'arguments={"town": "Lima"}' in (evaluators.__doc__ or "")


def test_everything_that_is_exported_is_there_and_every_evaluator_can_be_made_without_settings() -> None:
    assert all(hasattr(evaluators, name) for name in evaluators.__all__)
    assert {made.name for entry in evaluators.EVALUATORS.values() for made in [entry.evaluator_type()]} == set(
        evaluators.EVALUATORS
    )
