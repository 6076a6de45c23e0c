"""The output of a travel planner: every price and code, and what rules show of data, records and form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluators.cases import RunCase
from evaluators.output_quality import OutputQuality
from evaluators.verdict import Method, Severity, Status
from tests.evaluators.rubric.travel import (
    ALL_TOOLS,
    ASK_BACK,
    ASKED,
    DRAFT,
    ENGLISH_PLAN,
    GUIDES,
    PLAN,
    answered,
    as_run,
    codes,
    drafted,
    ruled,
    run_that,
)

QUALITY = OutputQuality()
ENGLISH = "Two quiet days at Mount Qingcheng from Chengdu by train, please."


def plan(text: str = PLAN, *, tools: Any = ALL_TOOLS, user: str = ASKED, **changes: Any) -> RunCase:
    return as_run(run_that(*tools, said=drafted(answer=text, **changes), user=user))


@pytest.mark.parametrize("case", [plan(), plan(ENGLISH_PLAN, user=ENGLISH)], ids=["zh", "en"])
def test_a_good_plan_raises_no_alarm_and_passes_with_a_judge_that_finds_nothing(case: RunCase) -> None:
    assert (ruled(QUALITY, case).status, codes(ruled(QUALITY, case))) == (Status.NEEDS_JUDGE, [])
    verdict = answered(QUALITY, case)
    assert (verdict.score, verdict.passed) == (1.0, True)
    report = verdict.details["report"]
    assert isinstance(report, dict)
    assert list(report) == [
        "dimension", "score", "passed", "critical_issues", "completeness_issues", "fact_opinion_issues",
        "format_issues", "issues", "suggestions", "summary",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("check", "code", "points", "severity"),
    [
        ("element_missing", "V-26", 15, "major"),
        ("too_short", "V-30", 0, "major"),
        ("unmarked", "V-27", 25, "critical"),
        ("disguised", "V-06", 30, "critical"),
        ("advice_missing", "advice_missing", 30, "major"),
        ("invented_geography", "V-01", 40, "critical"),
        ("invented_line", "V-02", 40, "critical"),
        ("invented_wait", "V-03", 0, "critical"),
        ("guides_as_geography", "V-04", 0, "critical"),
        ("false_verification", "V-05", 0, "critical"),
        ("too_long", "V-28", 0, "minor"),
        ("tables", "V-29", 0, "minor"),
        ("day_without_theme", "day_without_theme", 0, "minor"),
        ("insights_empty", "insights_empty", 0, "major"),
        ("records_incomplete", "records_incomplete", 0, "major"),
    ],
)
def test_what_a_judge_finds_costs_its_price(check: str, code: str, points: int, severity: str) -> None:
    verdict = answered(QUALITY, plan(), {"check": check, "quote": "### 泰安古镇", "element": "distance"})
    assert verdict.score == (100 - points) / 100
    assert [(one.code, one.severity) for one in verdict.issues] == [(code, Severity(severity))]
    assert verdict.passed is (severity != "critical" and 100 - points >= 70)


def test_each_element_of_each_stop_is_charged() -> None:
    two = PLAN + "\n### 建福宫\n- 简单介绍：山门前的道观。"
    elements = ("distance", "transport", "longest_wait", "travel_time", "reason")
    lacking = [{"check": "element_missing", "quote": "### 建福宫", "element": one} for one in elements]
    other = {"check": "element_missing", "quote": "### 泰安古镇", "element": "distance"}
    assert answered(QUALITY, plan(two), *lacking).score == 0.25
    assert answered(QUALITY, plan(two), lacking[0], other).score == 0.7
    assert answered(QUALITY, plan(two), lacking[0], lacking[0]).score == 0.85


def test_what_is_lacking_of_a_stop_is_charged_once_whatever_words_are_quoted() -> None:
    quotes = ("### 泰安古镇", "推荐交通：城际列车", "山脚的老镇")
    said = [{"check": "element_missing", "quote": one, "item": "泰安古镇", "element": "distance"} for one in quotes]
    verdict = answered(QUALITY, plan(), *said)
    assert (verdict.score, codes(verdict)) == (0.85, ["V-26"])


@pytest.mark.parametrize("quote", ["想安静一点", "周末主景区拥挤", "核实 天府广场", "安静一点…泰安古镇"])
def test_the_words_of_users_and_tools_show_no_fault_of_the_plan(quote: str) -> None:
    verdict = answered(QUALITY, plan(), {"check": "unmarked", "quote": quote})
    assert (verdict.score, verdict.details["dropped"]) == (
        1.0, {"made_up_quotes": 1, "not_applicable": 0, "repeated": 0},
    )  # fmt: skip


def test_an_element_has_to_be_named() -> None:
    verdict = answered(QUALITY, plan(), {"check": "element_missing", "quote": "### 泰安古镇"})
    assert (verdict.score, codes(verdict)) == (1.0, [])


def test_one_datum_costs_its_dearest_violation_and_two_data_cost_both() -> None:
    distance, time = "68 公里", "车程 60 分钟"
    one = answered(
        QUALITY,
        plan(),
        {"check": "unmarked", "quote": distance},
        {"check": "disguised", "quote": f"距天府广场 {distance}"},
        {"check": "invented_geography", "quote": distance},
    )
    assert (one.score, set(codes(one))) == (0.6, {"V-01", "V-06", "V-27"})
    two = answered(QUALITY, plan(), {"check": "unmarked", "quote": distance}, {"check": "unmarked", "quote": time})
    assert two.score == 0.5


class TestRecords:
    @pytest.mark.parametrize(
        "text",
        [
            "第一天\n### 古镇\n距离 12 公里",
            "第一天\n### 古镇\n全程约12公里",
            "第一天\n### 古镇\n步行10分钟到",
            "Day 1\n### Old town\na 40 minute walk",
            "第一天\n### 古镇\n车程 25 分钟",
        ],
    )
    def test_concrete_data_without_any_record_cost_forty_and_are_critical(self, text: str) -> None:
        verdict = ruled(QUALITY, plan(text, route_validation=[]))
        assert (verdict.status, verdict.method, verdict.score, verdict.passed) == (Status.OK, Method.RULE, 0.6, False)
        assert codes(verdict, conclusive=True) == ["no_records"]

    @pytest.mark.parametrize(
        "text",
        [
            "第一天\n### 古镇\n距离：高德未返回该字段",
            "第一天\n### 古镇\n慢慢走走，停留两小时，9:30 集合，门票 20 元",
            "第一天\n### 古镇\n全天控制在 5 公里以内",
            "第一天\n### 古镇\n古塔高约 60 米，海拔约30公里，占地 2 平方公里",
            "第一天\n### 古镇\n出地铁站，停留 2 小时，步行游览约 1.5 小时",
            "Day 1\n### Old town\nWalk along the river, stay 30 minutes",
        ],
    )
    def test_without_data_of_the_way_empty_records_are_no_fault(self, text: str) -> None:
        verdict = ruled(QUALITY, plan(text, route_validation=[], user="每天走路 5 公里以内"))
        assert codes(verdict, conclusive=True) == []

    @pytest.mark.parametrize(
        "text",
        [
            "第一天\n### 古镇\n全天步行 5km 以内",
            "第一天\n### 古镇\n乘 2 号线来回",
            "以下距离均待实时确认。\n第一天\n### 古镇\n距离 12 公里",
            "第一天\n### 古镇\n- 距离：12 公里\n  （待实时确认：可先到车站再步行）",
            "第一天\n### 古镇\n标注说明：高德已确认 / 待实时确认",
            "Day 1\n### Old town\nBus: 15€, bus 9:30, bus 24/7, bus 3 times a day",
        ],
    )
    def test_the_words_of_the_user_and_other_ways_of_marking_are_no_fault_that_a_rule_shows(self, text: str) -> None:
        user = "每天最多走五公里，我们住二号线边上"
        assert codes(ruled(QUALITY, plan(text, route_validation=[], user=user, tools=(GUIDES,))), conclusive=True) == []

    @pytest.mark.parametrize("record", ["二号线已查", "line 2", {"line": 2}])
    def test_a_line_that_a_record_names_in_other_numerals_is_not_made_up(self, record: Any) -> None:
        case = plan("第一天\n### 古镇\n乘地铁 2 号线", route_validation=[record], tools=(GUIDES,))
        assert codes(ruled(QUALITY, case), conclusive=True) == []

    @pytest.mark.parametrize("time", ["bus 20 to 30 minutes", "bus 20–30 min", "bus 45-minute ride", "bus 9:30"])
    def test_times_are_no_lines(self, time: str) -> None:
        case = plan(f"Day 1\n### Old town\n{time}", route_validation=[{"minutes": [20, 30, 45]}], tools=(GUIDES,))
        assert "V-02" not in codes(ruled(QUALITY, case))

    @pytest.mark.parametrize(
        "name", ["mcp__amap__maps_geo", "maps_distance", "gaode_route", "高德地图", "ask_amap_agent"]
    )
    def test_a_map_of_another_spelling_may_have_been_asked(self, name: str) -> None:
        tools = (GUIDES, (name, {"from": "天府广场"}, "68 公里，60 分钟"))
        assert codes(ruled(QUALITY, plan(tools=tools)), conclusive=True) == []

    def test_data_that_are_marked_are_a_question_for_the_judge(self) -> None:
        text = "第一天\n### 古镇\n距离约 12 公里（待实时确认），可先到城铁站再步行"
        verdict = ruled(QUALITY, plan(text, route_validation=[]))
        assert (verdict.status, codes(verdict, conclusive=False)) == (Status.NEEDS_JUDGE, ["V-30", "no_records"])

    def test_a_number_that_no_record_has_is_suspected(self) -> None:
        verdict = ruled(QUALITY, plan(PLAN.replace("68", "86")))
        assert (verdict.status, codes(verdict, conclusive=False)) == (Status.NEEDS_JUDGE, ["V-01"])

    @pytest.mark.parametrize("line", ["乘公交 102 路", "地铁 2 号线", "K12路公交", "bus 102", "metro line 2"])
    def test_a_line_that_no_call_can_have_told_is_made_up(self, line: str) -> None:
        text = f"第一天\n### 古镇\n{line}"
        verdict = ruled(QUALITY, plan(text, tools=(GUIDES,), route_validation=[{"note": "未查"}]))
        assert codes(verdict, conclusive=True) == ["V-02"]
        assert (verdict.score, verdict.passed) == (0.6, False)
        asked = ruled(QUALITY, plan(text))
        assert (asked.status, codes(asked, conclusive=True)) == (Status.NEEDS_JUDGE, [])
        assert "V-02" in codes(asked, conclusive=False)

    @pytest.mark.parametrize("name", ["中山二路", "南京西路", "京藏高速", "Route 66 diner", "2 路口"])
    def test_names_of_roads_are_no_lines(self, name: str) -> None:
        assert "V-02" not in codes(ruled(QUALITY, plan(f"第一天\n### 古镇\n在{name}下车")))

    @pytest.mark.parametrize("claim", ["距离已由高德验证", "高德已确认", "verified by Amap"])
    def test_what_is_said_to_be_verified_without_the_map_is_a_false_claim(self, claim: str) -> None:
        verdict = ruled(QUALITY, plan(f"第一天\n### 古镇\n{claim}", tools=(GUIDES,)))
        assert (codes(verdict, conclusive=True), verdict.passed) == (["V-05"], False)
        assert "V-05" not in codes(ruled(QUALITY, plan(f"第一天\n### 古镇\n{claim}")))

    @pytest.mark.parametrize("honest", ["未经高德确认", "尚未由高德验证", "not verified by Amap"])
    def test_what_is_said_not_to_be_verified_is_no_claim(self, honest: str) -> None:
        assert codes(ruled(QUALITY, plan(f"第一天\n### 古镇\n{honest}", tools=(GUIDES,))), conclusive=True) == []


@pytest.mark.parametrize(
    "words",
    [
        "大概 10 分钟",
        "一般等几分钟",
        "离地铁站不远",
        "很快就到",
        "通常需要 30 分钟",
        "probably 10 minutes",
        "not far from the gate",
    ],
)
def test_vague_words_with_data_are_suspected_unless_they_are_marked(words: str) -> None:
    text = f"第一天\n### 古镇\n到门口，{words}"
    assert "V-06" in codes(ruled(QUALITY, plan(text)), conclusive=False)
    assert "V-06" not in codes(ruled(QUALITY, plan(f"{text}（按当前信息估算）")))


@pytest.mark.parametrize("words", ["最多等待：15 分钟", "排队约 40 分钟", "wait of about 15 minutes"])
def test_a_wait_that_no_tool_told_is_suspected(words: str) -> None:
    assert "V-03" in codes(ruled(QUALITY, plan(f"第一天\n### 古镇\n{words}")), conclusive=False)
    recorded = plan(f"第一天\n### 古镇\n{words}", route_validation=[{"wait_minutes": [15, 40]}])
    assert "V-03" not in codes(ruled(QUALITY, recorded))


class TestForm:
    @pytest.mark.parametrize(
        "said",
        [
            f"```json\n{json.dumps(DRAFT, ensure_ascii=False)}\n```",
            f"方案如下：{json.dumps(DRAFT, ensure_ascii=False)}",
        ],
    )
    def test_words_or_a_code_block_around_the_object_cost_twenty(self, said: str) -> None:
        verdict = answered(QUALITY, as_run(run_that(*ALL_TOOLS, said=said)))
        assert (verdict.score, codes(verdict), verdict.passed) == (0.8, ["not_bare_json"], True)

    def test_missing_headings_cost_twenty_and_with_a_code_block_no_more(self) -> None:
        bare = PLAN.replace("### ", "")
        assert answered(QUALITY, plan(bare)).score == 0.8
        both = f"```json\n{json.dumps(drafted(answer=bare), ensure_ascii=False)}\n```"
        verdict = answered(QUALITY, as_run(run_that(*ALL_TOOLS, said=both)))
        assert (verdict.score, set(codes(verdict))) == (0.8, {"V-25", "not_bare_json"})

    @pytest.mark.parametrize("words", ["第一天的安排已改到室内。", "Day 1 is indoors now."])
    def test_a_reply_that_only_speaks_of_a_day_needs_no_headings(self, words: str) -> None:
        assert codes(ruled(QUALITY, plan(words)), conclusive=True) == []

    def test_tables_are_a_minor_fault_unless_they_were_asked_for(self) -> None:
        text = f"{PLAN}\n| 时间 | 地点 |\n|---|---|\n| 9 点 | 古镇 |"
        assert "V-29" in codes(ruled(QUALITY, plan(text)), conclusive=True)
        assert "V-29" not in codes(ruled(QUALITY, plan(text, user=f"{ASKED}请用表格。")))

    def test_lengths_are_suspicions(self) -> None:
        long = PLAN + "\n更多一行" * 3
        assert "V-28" in codes(ruled(QUALITY, plan(long)), conclusive=False)
        assert "V-28" not in codes(ruled(QUALITY, plan()))

    def test_insights_must_not_be_empty_where_guides_were_read(self) -> None:
        assert "insights_empty" in codes(ruled(QUALITY, plan(content_insights=[])), conclusive=True)
        assert "insights_empty" not in codes(ruled(QUALITY, plan(content_insights=[], tools=ALL_TOOLS[1:])))


def test_an_output_that_only_asks_back_is_no_plan() -> None:
    assert ruled(QUALITY, as_run(run_that(said=ASK_BACK))).status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("said", "lacking"),
    [
        (PLAN, "route_validation"),
        (drafted(route_validation=...), "route_validation"),
        ({"route_validation": []}, "answer"),
    ],
)
def test_answer_and_records_have_to_be_there(said: Any, lacking: str) -> None:
    verdict = ruled(QUALITY, as_run(run_that(*ALL_TOOLS, said=said)))
    assert (verdict.status, verdict.score) == (Status.MISSING_INPUT, None)
    assert lacking in verdict.explanation
