"""What judging one run costs: requests and characters, counted at a real HTTP server.

    python -m bench.judge_requests

A run of six model turns with four tool calls, one of which fails and is repeated, is judged by all five evaluators with
their defaults.  Printed are characters of messages and schemas, as the model reads them, and bytes of the HTTP bodies,
as they travel, and how much of each request is the beginning that both share.
"""

from __future__ import annotations

import asyncio
import json
import sys

from evaluators.evaluation import evaluate
from evaluators.judge.client import OpenAIJudge
from evaluators.judge.settings import JudgeSettings
from tests.evaluators.judge_cases import items_of, six_steps
from tests.evaluators.judge_server import JudgeServer, Received

MOST_REQUESTS = 2
MOST_CHARS = 21_000


def chars_of(received: Received) -> int:
    """What the model reads: both messages and the schema."""
    schema = json.dumps(received.schema, separators=(",", ":"), ensure_ascii=False)
    return len(received.system) + len(received.user) + len(schema)


def same_beginning(first: str, second: str) -> int:
    """How many characters two prompts begin alike with."""
    return next((at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other), 0)


async def measure() -> int:
    """Judges the run, prints what it cost, and returns 1 when that is more than promised."""
    async with JudgeServer() as server:
        settings = JudgeSettings.model_validate({"model": "counted", "base_url": server.base_url})
        judge = OpenAIJudge(settings)
        verdicts = await evaluate(items_of(six_steps(), judge))
        await judge.close()
    received = server.received
    chars = [chars_of(request) for request in received]
    shared = same_beginning(*(request.system + request.user for request in received)) if len(received) == 2 else 0
    by_rule = sum(1 for verdict in verdicts if verdict.usage.prompt_chars == 0)
    print(f"verdicts {len(verdicts)}, of which without a question to the judge {by_rule}")
    for number, (request, length) in enumerate(zip(received, chars, strict=True), 1):
        questions = len(request.questions)
        print(
            f"request {number}: {questions} questions, {length} characters"
            f" ({length - shared} without the shared beginning), {request.length_bytes} bytes of body"
        )
    print(f"together: {len(received)} requests, {sum(chars)} characters, {sum(chars) - shared} with the beginning once")
    messages = sum(len(request.system) + len(request.user) for request in received)
    print(f"messages alone, without schemas: {messages} characters")
    print(f"promised: at most {MOST_REQUESTS} requests, {MOST_CHARS} characters")
    return int(len(received) > MOST_REQUESTS or sum(chars) > MOST_CHARS)


if __name__ == "__main__":
    sys.exit(asyncio.run(measure()))
