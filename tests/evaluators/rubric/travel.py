"""Runs of a travel planner for tests: what it asks back, what it looks up, and the plan it puts out."""

from __future__ import annotations

import json
from typing import Any

from evaluators.cases import Message, Role, Run, RunCase, SessionCase, ToolCall, ToolResult, Turn
from evaluators.evaluator import Evaluator
from evaluators.judge.question import JudgeAnswer
from evaluators.sessions import session_case
from evaluators.verdict import Verdict

ASKED = "周末想从成都出发去青城山玩两天，坐公共交通，想安静一点。"
REPLY = "周六早上从天府广场出发，两个人，住山脚。"
PLAN = """第一天：山脚慢行
### 泰安古镇
- 距离：距天府广场 68 公里（高德已确认）
- 推荐交通：城际列车，再步行
- 最多等待：高德未返回该字段
- 路程时间：车程 60 分钟（高德已确认）
- 为什么推荐：攻略里多次提到清晨人少
- 简单介绍：山脚的老镇。"""
ENGLISH_PLAN = """Day 1: a slow walk
### Tai'an old town
- Distance: 68 km from Tianfu Square (confirmed by the map)
- Transport: intercity train, then on foot
- Longest wait: not returned by Amap
- Travel time: train 60 minutes (confirmed by the map)
- Why: guides keep naming its quiet mornings
- About: an old town at the foot of the hill."""
ASK_BACK = {
    "normalized_query": {"destination": "青城山", "days": 2},
    "thinking_result": "缺出发时间",
    "planning_process": "先追问",
    "answer": "",
    "content_insights": [],
    "route_validation": [],
    "follow_up_questions": ["哪天出发？几个人？"],
    "insufficient_information": True,
}
DRAFT: dict[str, Any] = {
    "normalized_query": {"destination": "青城山", "origin": "天府广场", "days": 2, "people": 2},
    "thinking_result": "山脚慢行",
    "planning_process": "采集攻略，核实路线，聚类，写行程，送审",
    "answer": PLAN,
    "content_insights": ["清晨人少", "主景区周末拥挤"],
    "route_validation": [{"from": "天府广场", "to": "泰安古镇", "distance_km": 68, "minutes": 60}],
    "follow_up_questions": [],
    "insufficient_information": False,
}
GUIDES = ("zhihu_guide_material", {"topic": "青城山 安静 慢行"}, "泰安古镇清晨人少，周末主景区拥挤")
MAP = ("amap-agent", {"task": "核实 天府广场 到 泰安古镇 的距离与车程"}, "68 公里，车程 60 分钟")
REVIEW = ("review-agent", {"draft": "第一天"}, "通过")
ALL_TOOLS = (GUIDES, MAP, REVIEW)


def drafted(**changes: Any) -> dict[str, Any]:
    """The draft with some fields changed; one that is given as `...` is left out."""
    return {name: value for name, value in (DRAFT | changes).items() if value is not ...}


def turns_of(
    tools: tuple[tuple[str, dict[str, Any], str], ...], said: Any, *, first: int = 0, user: int = 0
) -> list[Turn]:
    """A turn per tool, in order, and one that says `said`: an object as JSON, text as it is."""
    turns = [
        Turn(
            index=first + at,
            calls=(
                ToolCall(
                    id=f"c{first + at}", name=name, arguments=given, result=ToolResult(content=result), ref=f"tool{at}"
                ),
            ),
            user_turn=user,
            ref=f"turn{first + at}",
        )
        for at, (name, given, result) in enumerate(tools)
    ]
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return [*turns, Turn(index=first + len(turns), text=text, user_turn=user, ref="answered")]


def run_that(
    *tools: tuple[str, dict[str, Any], str],
    said: Any = DRAFT,
    user: str = ASKED,
    before: tuple[tuple[Role, str], ...] = (),
    **more: Any,
) -> Run:
    """A run that uses these tools and then answers; `before` is what its first turn was told of earlier."""
    turns = turns_of(tools, said)
    context = tuple(Message(role=role, text=text) for role, text in (*before, (Role.USER, user)))
    first = Turn(**{name: getattr(turns[0], name) for name in Turn.__dataclass_fields__} | {"context": context})
    fields: dict[str, Any] = {
        "turns": (first, *turns[1:]),
        "user_inputs": (user,),
        "final_answer": turns[-1].text,
        "answered": True,
        "ref": "run",
    }
    return Run(**(fields | more))


def planned(*tools: tuple[str, dict[str, Any], str], said: Any = DRAFT, **more: Any) -> SessionCase:
    """A session in which the agent asked back first and then planned."""
    return session_case([run_that(said=ASK_BACK), run_that(*tools, said=said, user=REPLY, **more)])


def as_run(run: Run) -> RunCase:
    return RunCase(run=run)


def answered(
    evaluator: Evaluator[Any], case: RunCase | SessionCase, *violations: dict[str, Any], **more: Any
) -> Verdict:
    """The verdict if a judge answers with these violations."""
    screening = evaluator.screen(case)
    question = evaluator.question(case, screening)
    said = [
        {"item": "", "evidence": [], "why": "Shown there.", "element": None, "extent": "middle", **one}
        for one in violations
    ]
    choices = {"suggestions": ["更正"], "summary": "So it went.", **more}
    content = question.answer_type.model_validate({"violations": said, **choices})
    return evaluator.conclude(case, screening, JudgeAnswer(content=content, model="m"))


def ruled(evaluator: Evaluator[Any], case: RunCase | SessionCase) -> Verdict:
    """The verdict without a judge."""
    return evaluator.conclude_by_rules(evaluator.screen(case))


def codes(verdict: Verdict, *, conclusive: bool | None = None) -> list[str]:
    """The codes of a verdict's issues."""
    return [str(one.code) for one in verdict.issues if conclusive is None or one.conclusive is conclusive]
