"""Small traces for tests: serialised spans, a transcript about them, and evaluators that say what they see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from pydantic import BaseModel

from evaluators.cases import (
    CallsCase,
    Case,
    CaseKind,
    DecisionCase,
    Message,
    ResponseCase,
    Role,
    Run,
    ToolCall,
    ToolResult,
    Turn,
)
from evaluators.evaluator import Evaluator, EvaluatorSettings, Screening
from evaluators.issues import IssueCode
from evaluators.judge.question import Answer, JudgeAnswer, JudgeFailure, Question
from evaluators.verdict import CallVerdict, Level, Method, Status, Verdict, issue

TRACE_ID = bytes(range(16))
RESOURCE = Resource().SerializeToString()


def hex_id(number: int) -> str:
    return f"{number:016x}"


def raw_span(
    number: int, *, name: str = "step", parent: int | None = None, **fields: object
) -> tuple[bytes, bytes, bytes]:
    span = Span(
        trace_id=TRACE_ID,
        span_id=bytes.fromhex(hex_id(number)),
        parent_span_id=bytes.fromhex(hex_id(parent)) if parent else b"",
        name=name,
        start_time_unix_nano=number * 1000,
        end_time_unix_nano=number * 1000 + 500,
        **fields,  # type: ignore[arg-type]
    )
    return RESOURCE, b"", span.SerializeToString()


def call(
    call_id: str,
    *,
    tool_span: int | None = None,
    result: str | None = None,
    error: str | None = None,
    handoff: bool = False,
) -> ToolCall:
    seen = None if result is None and error is None else ToolResult(content=result, error=error)
    ref = None if tool_span is None else hex_id(tool_span)
    return ToolCall(id=call_id, name="look_up", arguments={"id": call_id}, result=seen, ref=ref, is_handoff=handoff)


def turn(
    index: int,
    span: int | None,
    *calls: ToolCall,
    answers: Sequence[str] = (),
    tools: Sequence[object] | None = None,
    user_turn: int = 0,
    agent: str | None = None,
    error: str | None = None,
    sees: Sequence[Role] | None = None,
) -> Turn:
    return Turn(
        index=index,
        calls=calls,
        answers=tuple(answers),
        tools=None if tools is None else tuple(tools),  # type: ignore[arg-type]
        user_turn=user_turn,
        agent=agent,
        error=error,
        context=None if sees is None else tuple(Message(role=role, text="…") for role in sees),
        ref=None if span is None else hex_id(span),
    )


class Stated(BaseModel):
    """What a judge has to answer."""

    label: str


class MoodyJudge:
    """A judge that is up or down, and counts its questions. Whatever it is asked, it is content."""

    model = "moody"

    def __init__(self) -> None:
        self.down: Status | None = None
        self.asked = 0

    async def ask(self, run: Run, questions: Sequence[Question]) -> list[Answer]:
        self.asked += len(questions)
        if self.down is not None:
            return [JudgeFailure(status=self.down, reason="the model is down") for _ in questions]
        return [JudgeAnswer(content=Stated(label="correct")) for _ in questions]


class Stating(Evaluator[Case]):
    """Says `correct` unless a call of the case is named among `faulty`, and `status` where one is given."""

    good_label: ClassVar[str] = "correct"
    bad_label: ClassVar[str] = "incorrect"
    code_version: ClassVar[str] = "1"

    def __init__(self, *, faulty: Sequence[str] = (), status: Status = Status.OK, judge: str | None = None) -> None:
        super().__init__(EvaluatorSettings(judge=judge))
        self.faulty = frozenset(faulty)
        self.status = status
        self.seen: list[Case] = []

    def screen(self, case: Case) -> Screening:
        self.seen.append(case)
        calls = _calls_of(case)
        wrong = [one for one in calls if one.id in self.faulty]
        return Screening(
            status=self.status,
            score=(1 - len(wrong) / len(calls) if calls else 1.0) if self.status is Status.OK else None,
            issues=tuple(issue(IssueCode.WRONG_VALUE, f"{one.id} is wrong", call_id=one.id) for one in wrong),
            calls=tuple(CallVerdict(call_id=one.id, label="incorrect" if one in wrong else "correct") for one in calls),
            reason="as stated",
        )

    def question(self, case: Case, screening: Screening) -> Question:
        return Question(evaluator=self.name, criteria="", subject="", answer_type=Stated)

    def conclude(self, case: Case, screening: Screening, answer: JudgeAnswer) -> Verdict:
        return self.scored(screening, 1.0, 1.0, method=Method.JUDGE)

    def criteria(self) -> str:
        return ""


def _calls_of(case: Case) -> tuple[ToolCall, ...]:
    match case:
        case DecisionCase(turn=decided):
            return decided.calls
        case CallsCase(calls=calls) | ResponseCase(calls=calls):
            return calls
    return case.run.calls


class Selection(Stating):
    name = "tool_selection"
    judges = CaseKind.DECISION
    level = Level.SPAN


class Invocation(Stating):
    name = "tool_invocation"
    judges = CaseKind.CALLS
    level = Level.SPAN


class Handling(Stating):
    name = "tool_response_handling"
    judges = CaseKind.RESPONSE
    level = Level.SPAN


class Completion(Stating):
    name = "task_completion"
    judges = CaseKind.RUN
    level = Level.TRACE
