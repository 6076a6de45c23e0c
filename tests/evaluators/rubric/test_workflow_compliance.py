"""The seven steps of a travel planner: every price and code, what rules show, and what is not due."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluators.cases import CaseKind, Role, RunCase, SessionCase
from evaluators.sessions import session_case
from evaluators.verdict import Method, Severity, Status, Verdict
from evaluators.workflow_compliance import WorkflowCompliance
from tests.evaluators.rubric.travel import (
    ALL_TOOLS,
    ASK_BACK,
    ASKED,
    DRAFT,
    ENGLISH_PLAN,
    GUIDES,
    MAP,
    PLAN,
    REPLY,
    REVIEW,
    answered,
    as_run,
    codes,
    drafted,
    planned,
    ruled,
    run_that,
)

WORKFLOW = WorkflowCompliance()
STEPS = ("s1_parse", "s2_ask", "s3_guides", "s4_geography", "s5_route", "s6_review", "s7_output")
ENGLISH = "Two quiet days at Mount Qingcheng from Chengdu by train, please."
ENGLISH_REPLY = "Saturday morning from Tianfu Square, two of us, we stay at the foot of the hill."
QUOTE = {"quote": "泰安古镇"}


def english(*tools: Any, **changes: Any) -> SessionCase:
    said = drafted(answer=ENGLISH_PLAN, **changes)
    return session_case([run_that(said=ASK_BACK, user=ENGLISH), run_that(*tools, said=said, user=ENGLISH_REPLY)])


def chinese(*tools: Any, **changes: Any) -> SessionCase:
    return planned(*tools, said=drafted(**changes))


BOTH = pytest.mark.parametrize("session", [chinese, english], ids=["zh", "en"])


def states(verdict: Verdict) -> dict[str, str]:
    found = verdict.details["steps"]
    assert isinstance(found, dict)
    return {name: str(state) for name, state in found.items()}


def report(verdict: Verdict) -> dict[str, Any]:
    found = verdict.details["report"]
    assert isinstance(found, dict)
    return found


@BOTH
def test_a_session_that_took_all_steps_in_order_gets_all_points_from_a_judge_that_finds_nothing(session: Any) -> None:
    assert ruled(WORKFLOW, session(*ALL_TOOLS)).status is Status.NEEDS_JUDGE
    verdict = answered(WORKFLOW, session(*ALL_TOOLS))
    assert (verdict.score, verdict.passed, verdict.label) == (1.0, True, "pass")
    assert states(verdict) == dict.fromkeys(STEPS, "done")
    assert list(report(verdict)) == [
        "dimension", "score", "passed", "critical_issues", "steps_completed", "steps_skipped", "steps_out_of_order",
        "execution_issues", "issues", "suggestions", "summary",
    ]  # fmt: skip
    assert (report(verdict)["dimension"], report(verdict)["score"], len(report(verdict)["steps_completed"])) == (
        "workflow_compliance", 100, 7,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("check", "code", "points", "severity", "step", "state"),
    [
        ("query_lacks_key_fields", "query_lacks_key_fields", 30, "major", "s1_parse", "skipped"),
        ("query_misses_fact", "query_misses_fact", 15, "major", "s1_parse", "poor"),
        ("question_leaves_gap", "V-09", 20, "major", "s2_ask", "poor"),
        ("asked_again", "V-08", 25, "critical", "s2_ask", "poor"),
        ("too_many_optional", "too_many_optional", 20, "major", "s2_ask", "poor"),
        ("topic_without_theme", "topic_without_theme", 20, "major", "s3_guides", "poor"),
        ("guides_not_distilled", "guides_not_distilled", 20, "major", "s3_guides", "poor"),
        ("guides_as_geography", "guides_as_geography", 20, "major", "s3_guides", "poor"),
        ("task_unclear", "task_unclear", 20, "major", "s4_geography", "poor"),
        ("legs_unverified", "legs_unverified", 20, "major", "s4_geography", "poor"),
        ("query_repeated", "query_repeated", 20, "major", "s4_geography", "poor"),
        ("records_differ", "records_differ", 20, "major", "s4_geography", "poor"),
        ("itinerary_first", "V-10", 25, "critical", "s5_route", "out_of_order"),
        ("not_clustered", "not_clustered", 20, "major", "s5_route", "poor"),
        ("several_areas_a_day", "several_areas_a_day", 20, "major", "s5_route", "poor"),
        ("too_many_stops", "too_many_stops", 20, "major", "s5_route", "poor"),
        ("popularity_first", "popularity_first", 20, "major", "s5_route", "poor"),
        ("no_crowd_warning", "no_crowd_warning", 20, "major", "s5_route", "poor"),
        ("output_before_review", "output_before_review", 25, "critical", "s6_review", "out_of_order"),
        ("format_not_used", "format_not_used", 30, "major", "s7_output", "skipped"),
        ("not_json", "V-14", 0, "major", None, None),
    ],
)
def test_what_a_judge_finds_costs_its_price(
    check: str, code: str, points: int, severity: str, step: str | None, state: str | None
) -> None:
    verdict = answered(WORKFLOW, chinese(*ALL_TOOLS), {"check": check, **QUOTE})
    assert verdict.score == (100 - points) / 100
    assert [(one.code, one.severity) for one in verdict.issues] == [(code, Severity(severity))]
    assert verdict.passed is (severity != "critical" and 100 - points >= 70)
    assert {name: one for name, one in states(verdict).items() if one != "done"} == ({step: state} if step else {})


@pytest.mark.parametrize(
    ("tools", "code", "step"),
    [
        ((MAP, REVIEW), "V-11", "s3_guides"),
        ((GUIDES, REVIEW), "V-12", "s4_geography"),
        ((GUIDES, MAP), "V-13", "s6_review"),
    ],
)
@BOTH
def test_steps_that_no_call_shows_are_skipped_by_rule(session: Any, tools: Any, code: str, step: str) -> None:
    verdict = ruled(WORKFLOW, session(*tools))
    assert (verdict.status, verdict.method, verdict.score, verdict.passed) == (Status.OK, Method.RULE, 0.7, False)
    assert codes(verdict) == [code]
    assert states(verdict)[step] == "skipped"
    assert answered(WORKFLOW, session(*tools)).score == 0.7


@BOTH
def test_skipping_everything_costs_thirty_for_each_step(session: Any) -> None:
    verdict = ruled(WORKFLOW, session())
    assert (verdict.score, set(codes(verdict))) == (0.1, {"V-11", "V-12", "V-13"})


def test_unverified_geography_is_critical_only_with_concrete_data() -> None:
    vague = "第一天：山脚慢行\n### 泰安古镇\n- 距离：高德未返回该字段"
    verdict = ruled(WORKFLOW, chinese(GUIDES, REVIEW, answer=vague))
    assert verdict.status is Status.NEEDS_JUDGE
    assert codes(verdict) == ["geography_skipped_without_data"]
    judged = answered(WORKFLOW, chinese(GUIDES, REVIEW, answer=vague))
    assert (judged.score, judged.passed, states(judged)["s4_geography"]) == (0.7, True, "skipped")


def test_a_distance_that_the_user_named_is_no_data_of_the_plan() -> None:
    asked = run_that(said=ASK_BACK, user="每天最多走 5 公里")
    plan = run_that(GUIDES, REVIEW, said=drafted(answer="第一天\n### 泰安古镇\n每天最多走 5 公里"), user=REPLY)
    assert "V-12" not in codes(ruled(WORKFLOW, session_case([asked, plan])))


def test_data_without_records_are_suspected_where_the_map_was_asked() -> None:
    verdict = ruled(WORKFLOW, chinese(*ALL_TOOLS, route_validation=[]))
    assert (verdict.status, codes(verdict, conclusive=False)) == (Status.NEEDS_JUDGE, ["V-12"])


class TestAskingBack:
    @pytest.mark.parametrize("user", [ASKED, ENGLISH])
    def test_a_turn_that_only_asks_back_owes_nothing_of_the_later_steps(self, user: str) -> None:
        verdict = answered(WORKFLOW, as_run(run_that(said=ASK_BACK, user=user)))
        assert (verdict.score, verdict.passed) == (1.0, True)
        assert [states(verdict)[step] for step in STEPS] == ["done", "done", *["not_due"] * 5]

    def test_what_is_not_due_cannot_be_violated(self) -> None:
        verdict = answered(WORKFLOW, as_run(run_that(said=ASK_BACK)), {"check": "not_clustered", "quote": "青城山"})
        assert (verdict.score, verdict.details["dropped"]) == (
            1.0, {"made_up_quotes": 0, "not_applicable": 1, "repeated": 0},
        )  # fmt: skip

    @pytest.mark.parametrize(
        "waiver", ["别问了，直接给方案。", "不要追问", "Please don't ask, just plan.", "No follow-up questions."]
    )
    def test_a_user_who_does_not_want_to_be_asked_waives_the_second_step(self, waiver: str) -> None:
        case = as_run(run_that(*ALL_TOOLS, user=f"{ASKED}{waiver}"))
        assert codes(ruled(WORKFLOW, case)) == []
        verdict = answered(WORKFLOW, case, {"check": "asked_nothing", **QUOTE})
        assert (verdict.score, states(verdict)["s2_ask"]) == (1.0, "not_due")

    @pytest.mark.parametrize(
        "words", ["我想特别问一下安静的地方。", "两个人分别问过价。", "I asked my friend already."]
    )
    def test_words_that_only_look_like_it_waive_nothing(self, words: str) -> None:
        assert "V-07" in codes(ruled(WORKFLOW, as_run(run_that(*ALL_TOOLS, user=f"{ASKED}{words}"))))

    def test_a_plan_at_once_is_suspected_and_critical_with_its_veto_if_the_judge_agrees(self) -> None:
        case = as_run(run_that(*ALL_TOOLS))
        assert (ruled(WORKFLOW, case).status, codes(ruled(WORKFLOW, case), conclusive=False)) == (
            Status.NEEDS_JUDGE, ["V-07", "VETO-04"],
        )  # fmt: skip
        verdict = answered(WORKFLOW, case, {"check": "asked_nothing", **QUOTE})
        assert (verdict.score, verdict.passed, codes(verdict)) == (0.7, False, ["V-07", "VETO-04"])
        assert states(verdict)["s2_ask"] == "skipped"
        assert answered(WORKFLOW, case).passed is True

    def test_where_it_asked_before_it_did_not_skip_asking(self) -> None:
        verdict = answered(WORKFLOW, chinese(*ALL_TOOLS), {"check": "asked_nothing", **QUOTE})
        assert (verdict.score, codes(verdict)) == (1.0, [])

    def asked_again(self) -> list[SessionCase | RunCase]:
        history = ((Role.USER, ASKED), (Role.ASSISTANT, json.dumps(ASK_BACK, ensure_ascii=False)))
        return [
            session_case([run_that(said=ASK_BACK), run_that(said=ASK_BACK, user=REPLY)]),
            session_case(
                [run_that(said=ASK_BACK), run_that(said=ASK_BACK, user=REPLY), run_that(*ALL_TOOLS, user="好")]
            ),
            as_run(run_that(said=ASK_BACK, user=REPLY, before=history)),
        ]

    def test_a_second_round_of_questions_is_a_fault_in_sessions_and_by_the_history_of_a_run(self) -> None:
        for case in self.asked_again():
            verdict = ruled(WORKFLOW, case)
            assert (verdict.status, verdict.score, verdict.passed) == (Status.OK, 0.75, False)
            assert codes(verdict) == ["V-08"]

    def test_one_round_is_none(self) -> None:
        history = ((Role.USER, ASKED), (Role.ASSISTANT, json.dumps(ASK_BACK, ensure_ascii=False)))
        assert codes(ruled(WORKFLOW, as_run(run_that(*ALL_TOOLS, user=REPLY, before=history)))) == []

    @pytest.mark.parametrize(
        "answer",
        [
            "### 还需要确认\n第一天从哪里出发？交通偏好？",
            "第一天：想几点出发？\n第二天：几点返程？",
            "青城山距成都约 68 公里，请问哪天出发？",
            "Day 1: when do you want to start?",
        ],
    )
    def test_no_rule_takes_questions_for_a_plan_whatever_their_form(self, answer: str) -> None:
        case = as_run(run_that(said={**ASK_BACK, "answer": answer}))
        assert codes(ruled(WORKFLOW, case), conclusive=True) == []

    @pytest.mark.parametrize(
        "answer",
        [
            "抱歉，第一天的景点已关闭，之前的方案请作废。",
            "Sorry, day 1 of your plan isn't mine.",
            "### 抱歉\n我不能订票。",
        ],
    )
    def test_no_rule_takes_words_about_a_plan_for_one(self, answer: str) -> None:
        assert codes(ruled(WORKFLOW, chinese(answer=answer, route_validation=[])), conclusive=True) == []

    @pytest.mark.parametrize("value", ["false", None, "否", 0])
    def test_whether_it_asks_back_has_to_be_known_for_a_rule(self, value: Any) -> None:
        assert codes(ruled(WORKFLOW, chinese(insufficient_information=value)), conclusive=True) == []


@pytest.mark.parametrize(
    ("guides", "asked_map", "review"),
    [
        ("ZhihuGuideMaterial", "AmapAgent", "ReviewAgent"),
        ("mcp__zhihu__guide_material", "mcp__amap__maps_geo", "mcp__review__agent"),
        ("search_zhihu", "maps_direction_transit_integrated", "draft_review"),
        ("知乎攻略素材", "高德地图", "方案审查"),
        ("call_zhihu_guide_material", "gaode_route", "reviewer"),
    ],
)
def test_no_rule_calls_a_step_skipped_that_a_tool_of_another_spelling_may_have_taken(
    guides: str, asked_map: str, review: str
) -> None:
    tools = ((guides, *GUIDES[1:]), (asked_map, *MAP[1:]), (review, *REVIEW[1:]))
    assert codes(ruled(WORKFLOW, chinese(*tools)), conclusive=True) == []


@pytest.mark.parametrize(
    "said",
    [
        dict(reversed(DRAFT.items())),
        {**DRAFT, "title": "青城山", "version": 2},
        {"status": "ok", "result": DRAFT},
        {**DRAFT, "answer": f"```\n{PLAN}\n```"},
    ],
    ids=["other order", "more fields", "within another object", "a code block within"],
)
def test_the_form_of_the_object_is_free(said: dict[str, Any]) -> None:
    case = planned(*ALL_TOOLS, said=said)
    assert (ruled(WORKFLOW, case).status, codes(ruled(WORKFLOW, case))) == (Status.NEEDS_JUDGE, [])


class TestOrder:
    def test_a_plan_given_before_the_map_was_asked_is_out_of_order(self) -> None:
        first = run_that(GUIDES, REVIEW, user=REPLY)
        case = session_case([run_that(said=ASK_BACK), first, run_that(MAP, user="核实一下")])
        verdict = ruled(WORKFLOW, case)
        assert codes(verdict) == ["V-10"]
        assert (verdict.score, states(verdict)["s5_route"]) == (0.75, "out_of_order")

    def test_a_draft_before_the_map_was_asked_is_a_suspicion(self) -> None:
        verdict = ruled(WORKFLOW, chinese(GUIDES, ("review-agent", {"draft": DRAFT}, "通过"), MAP))
        assert (verdict.status, codes(verdict, conclusive=False)) == (Status.NEEDS_JUDGE, ["V-10"])

    def test_a_review_after_the_user_has_it_is_out_of_order(self) -> None:
        case = session_case(
            [run_that(said=ASK_BACK), run_that(GUIDES, MAP, user=REPLY), run_that(REVIEW, user="再看看")]
        )
        verdict = ruled(WORKFLOW, case)
        assert codes(verdict) == ["output_before_review"]
        assert states(verdict)["s6_review"] == "out_of_order"


def test_a_step_is_charged_once_with_its_dearest_violation() -> None:
    verdict = answered(
        WORKFLOW,
        chinese(*ALL_TOOLS),
        {"check": "query_misses_fact", "quote": "安静一点"},
        {"check": "query_lacks_key_fields", "quote": "周末"},
        {"check": "not_clustered", **QUOTE},
        {"check": "itinerary_first", **QUOTE},
    )
    charged = verdict.details["deductions"]
    assert isinstance(charged, list)
    costs = {one["check"]: one["points"] for one in charged if isinstance(one, dict)}
    assert costs == {"query_misses_fact": 0, "query_lacks_key_fields": 30, "not_clustered": 0, "itinerary_first": 25}
    assert verdict.score == 0.45


def test_the_map_asked_again_for_another_message_or_with_another_outcome_is_no_fault_that_a_rule_shows() -> None:
    again = session_case(
        [run_that(said=ASK_BACK), run_that(*ALL_TOOLS, user=REPLY), run_that(MAP, user="再查一下现在的路况")]
    )
    assert "query_repeated" not in codes(ruled(WORKFLOW, again))
    other = ruled(WORKFLOW, chinese(GUIDES, MAP, (*MAP[:2], "70 公里"), REVIEW))
    assert codes(other, conclusive=False) == ["query_repeated"]
    failed = (*MAP[:2], '{"status": "0", "info": "too many requests"}')
    assert codes(ruled(WORKFLOW, chinese(GUIDES, failed, failed, MAP, REVIEW)), conclusive=True) == []


def test_the_map_asked_the_same_twice_is_a_fault_and_the_form_of_the_answer_is_seen() -> None:
    verdict = ruled(WORKFLOW, chinese(GUIDES, MAP, MAP, REVIEW, answer=PLAN.replace("### ", "")))
    assert (verdict.score, verdict.passed) == (0.5, False)
    assert set(codes(verdict)) == {"query_repeated", "format_not_used"}


@pytest.mark.parametrize("name", list(DRAFT))
def test_every_field_has_to_be_there_somewhere(name: str) -> None:
    verdict = ruled(WORKFLOW, chinese(*ALL_TOOLS, **{name: ...}))
    assert (verdict.status, verdict.score) == (Status.MISSING_INPUT, None)
    assert name in verdict.explanation


def test_fields_are_read_from_the_draft_that_was_sent_to_review_and_an_answer_in_words_is_a_fault() -> None:
    verdict = answered(WORKFLOW, planned(GUIDES, MAP, ("review-agent", {"draft": DRAFT}, "通过"), said=PLAN))
    assert (verdict.score, codes(verdict)) == (1.0, ["V-14"])


def test_a_word_of_thanks_is_no_work_to_be_judged() -> None:
    thanks = run_that(said="不客气，玩得开心！", user="谢谢")
    verdict = answered(WORKFLOW, session_case([run_that(said=ASK_BACK), run_that(*ALL_TOOLS, user=REPLY), thanks]))
    assert (verdict.score, set(states(verdict).values())) == (1.0, {"done"})


def test_it_judges_sessions() -> None:
    assert WORKFLOW.judges is CaseKind.SESSION
