"""Which texts announce a plan, and which only look like it."""

from __future__ import annotations

import pytest

from evaluators.cases import PlanState
from evaluators.plans.announced import announced_steps

ANNOUNCED = [
    (
        "Plan:\n1. Check the weather.\n2. Search flights.\n\nStarting with step 1.",
        ["Check the weather.", "Search flights."],
    ),
    ("I'll do the following:\n- look up the order\n- refund it", ["look up the order", "refund it"]),
    ("I need to:\n1) find the file\n2) fix the bug", ["find the file", "fix the bug"]),
    ("Here’s what I’ll do:\n\n1. **Search** the docs\n2. Write it up", ["Search the docs", "Write it up"]),
    ("My approach:\n* read\n  - the tests\n* write", ["read - the tests", "write"]),
    ("Step 1: read\nStep 2: write", ["read", "write"]),
    ("1. Look it up\n2. Book it\n\nLet me start.", ["Look it up", "Book it"]),
    (
        "First, I'll check the weather, then search flights, and finally book.",
        ["check the weather", "search flights", "book"],
    ),
    (
        "To change your flight, I'll first search for seats, and then for the fare. Please wait.",
        ["search for seats", "for the fare"],
    ),
    ("Let me first read the file and then fix the bug.", ["read the file", "fix the bug"]),
    ("第一步查询天气，第二步搜索航班。", ["查询天气", "搜索航班"]),
    ("首先查询天气，然后搜索航班，最后预订酒店。", ["查询天气", "搜索航班", "预订酒店"]),
    ("好的，我先查一下订单，再为您办理退款。", ["查一下订单", "为您办理退款"]),
    ("我将按以下步骤进行：\n１．查询\n２．修改", ["查询", "修改"]),
    ("计划：\n一、查天气\n二、订酒店", ["查天气", "订酒店"]),
    ("Zuerst suche ich den Flug, dann buche ich das Hotel.", ["suche ich den Flug", "buche ich das Hotel"]),
    ("D'abord je cherche le vol, ensuite je réserve.", ["je cherche le vol", "je réserve"]),
    ("Primero busco el vuelo, luego reservo.", ["busco el vuelo", "reservo"]),
    ("Сначала проверю погоду, затем забронирую.", ["проверю погоду", "забронирую"]),
    ("まず天気を調べ、次にホテルを予約します。", ["天気を調べ", "ホテルを予約します"]),
    ("먼저 날씨를 확인하고, 그다음 호텔을 예약합니다.", ["날씨를 확인하고", "호텔을 예약합니다"]),
    ("/*PLANNING*/\n1. use search\n2. answer\n/*ACTION*/\nsearch", ["use search", "answer"]),
    ("## 1. Facts survey\n- a\n- b\n\n## 2. Plan\n1. look it up\n2. tell it\n<end_plan>", ["look it up", "tell it"]),
    ('{"steps": ["find it", "tell it"]}', ["find it", "tell it"]),
    ("Implementation steps:\n1. read\n2. edit", ["read", "edit"]),
    ("Steps to complete the task:\n1. read\n2. edit", ["read", "edit"]),
    ("Let me break this down:\n1. read\n2. edit", ["read", "edit"]),
    ("I'll help. First, I'll read it, then edit it.", ["read it", "edit it"]),
    ("Let's go step by step. First, read it; then, edit it.", ["read it", "edit it"]),
]
NO_PLANS = [
    "Let me look that up.",
    "Found so far:\n1. Hotel A\n2. Hotel B\nLet me check the prices.",
    "Here are your options:\n1. Hotel A\n2. Hotel B",
    "You want:\n1. a flight\n2. a hotel",
    "Step 1 done. Step 2: searching flights.",
    "I'll compare these hotels:\n- Aurora\n- Bella",
    "I will book for the following passengers:\n1. Ann\n2. Bob",
    "I'll search with these parameters:\n- origin: SFO\n- destination: LAX",
    "My plan depends on two things:\n1. Which city?\n2. Which date?",
    "Your travel plan:\n1. Day one: Lisbon\n2. Day two: Porto",
    "First, note that the shop is closed. Then check the hours.",
    "```\n1. read\n2. write\n```",
    "Plan: I look it up.",
    "我已经先查了天气，然后找到了航班。",
    "为您找到以下选项：\n1. 希尔顿\n2. 万豪",
    "优先处理，再说。",
    "先生，您好，再见。",
    "The document says: first, register; then pay; finally collect the ticket. Let me verify it.",
    "Before I book I need:\n1. Your dates\n2. Your budget\n3. Number of travellers",
    "First, the fox ran. Then it slept. Finally it woke. Let me find a picture.",
    "First I searched flights, then I booked the hotel and finally sent the mail. Let me check once more.",
    "First, you need to register, then pay, and finally collect the ticket. I'll check the status.",
    "Zuerst müssen Sie sich registrieren, dann zahlen. Ich prüfe den Status.",
    "您需要首先注册，然后付款，最后取票。我来查一下。",
    "Dear Ann,\n\nour plan for the week:\n1. Review\n2. Lunch\n\nI'll save this.",
    "Steps for the campaign:\n1. Research the audience\n2. Create ads\nLet me research competitors.",
    "Migration steps:\n1. Back up\n2. Restart\nChecking the docs for details.",
    "退款流程：\n1. 提交申请\n2. 审核\n3. 退款\n我帮您查一下订单。",
    '{"hotels": ["Aurora", "Bella"]}',
    "",
]
LATER = [
    ("Revised plan:\n1. Try the other port\n2. Report", ["Try the other port", "Report"]),
    ("计划调整如下：\n1. 换一个接口\n2. 汇报", ["换一个接口", "汇报"]),
    ("Step 1: read\nStep 2: write", []),
    ("I'll do the following:\n- retry\n- report", []),
    ("I'll first retry, then report.", []),
]


@pytest.mark.parametrize(("text", "steps"), ANNOUNCED)
def test_steps_that_are_announced_before_acting_are_a_plan(text: str, steps: list[str]) -> None:
    assert [step.text for step in announced_steps(text, opening=True)] == steps


@pytest.mark.parametrize("text", NO_PLANS)
def test_what_only_looks_like_a_plan_is_none(text: str) -> None:
    assert announced_steps(text, opening=True) == ()


@pytest.mark.parametrize(("text", "steps"), LATER)
def test_once_an_agent_has_acted_only_what_calls_itself_a_plan_is_one(text: str, steps: list[str]) -> None:
    assert [step.text for step in announced_steps(text, opening=False)] == steps


def test_checkboxes_tell_how_far_a_plan_has_come() -> None:
    steps = announced_steps("Plan:\n- [x] read\n- [ ] write\n- [~] test", opening=True)
    assert [step.state for step in steps] == [PlanState.COMPLETED, PlanState.PENDING, PlanState.IN_PROGRESS]


def test_a_text_of_any_size_is_read_in_no_time() -> None:
    for text in ("1. a\n" * 100_000, "先" * 100_000, "first " * 50_000 + "then", "Plan:\n" + "- x\n" * 50_000):
        assert len(announced_steps(text, opening=True)) <= 50
