"""One request to an OpenAI-compatible endpoint: messages and a schema in, the model's words or a failure out.

The library's own retries are off: who asks decides about them.  Between requests nothing is kept but how the endpoint
wants to be asked.  Every request is reported, also one that is given up.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import httpx2
import openai
import orjson
from jsonschema import Draft202012Validator

from evaluators.cases import JsonValue
from evaluators.judge.endpoint.body import request_body, schema_as_sent
from evaluators.judge.endpoint.completion import Completion, ErrorInside, read_completion
from evaluators.judge.endpoint.errors import RequestError, too_slow
from evaluators.judge.endpoint.failures import DEFINITE, broken_off, from_library, from_status, unreadable
from evaluators.judge.endpoint.json_text import is_object, object_in
from evaluators.judge.endpoint.lessons import Sent
from evaluators.judge.endpoint.manner import Manner, Mode, Parameter
from evaluators.judge.endpoint.memory import Memory
from evaluators.judge.endpoint.refusal import refusal_in
from evaluators.judge.endpoint.request import Order, Reply, Tally
from evaluators.judge.report import OnRequest, Outcome, RequestReport
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Usage

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

_log = logging.getLogger(__name__)

MAX_REPLY_BYTES = 4 * 1024 * 1024
# The library refuses to start without a key; endpoints that need none ignore it.
_NO_KEY = "no-key"
# Groq's words for an answer that the model didn't manage to write in the form that was asked for.
_NOT_WRITTEN = frozenset(("json_validate_failed", "tool_use_failed"))
_CUT_OR_REFUSED = frozenset(("length", "content_filter"))

# At debug level these write whole requests, and with them the run and the key, into the log.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Endpoint:
    """A client for one model at one address."""

    def __init__(self, settings: JudgeSettings, on_request: OnRequest | None = None) -> None:
        self._settings = settings
        self._on_request = on_request
        self._memory = Memory()
        key = settings.api_key.get_secret_value()
        headers = {name: value.get_secret_value() for name, value in settings.headers.items()}
        named = any(name.lower() == "authorization" for name in headers)
        # Azure prefers a bearer token, even a senseless one, to the key in its own header.
        self._left_out = {} if key or named else {"Authorization": openai.Omit()}
        address = urlsplit(settings.base_url)
        self._client = openai.AsyncOpenAI(
            api_key=key or _NO_KEY,
            base_url=urlunsplit(address._replace(query="", fragment="")),
            default_query=dict(parse_qsl(address.query, keep_blank_values=True)),
            default_headers=headers,
            timeout=settings.timeout,
            max_retries=0,
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def turn(self) -> AbstractAsyncContextManager[Manner]:
        """Waits, a little while at most, until it is known how the endpoint is to be asked; to be left after it was."""
        return self._memory.turn()

    async def request(self, order: Order, manner: Manner, tally: Tally) -> Reply:
        """Sends one request in this manner; what it cost is added to `tally` however it ends.

        Raises:
            RequestError: no reply came. With `again` it is worth asking at once, as the endpoint will be asked in
                another way.
        """
        mode = manner.mode(order.below)
        body = request_body(order, manner, mode, self._settings)
        sent = Sent(mode=mode, parameters=frozenset(body), manner=manner)
        told = _Told(outcome=Outcome.ABANDONED, problem=too_slow(self._settings).reason)
        started_s = time.monotonic()
        try:
            return self._take(await self._send(body), order, sent, told)
        except RequestError as failure:
            if failure.refusal is not None and failure.refusal.codes & _NOT_WRITTEN:
                told.outcome, told.http_status, told.problem = Outcome.OK, failure.http_status, ""
                told.learnt = self._memory.answered(sent, has_form=False)
                return Reply(text=None, finish_reason=None, refused=False, formless=mode)
            if failure.refusal is not None and failure.http_status in DEFINITE:
                learnt = self._memory.refused(sent, failure.refusal)
                if learnt is not None:
                    failure = self._adapted(failure.http_status, learnt, told)
            told.outcome, told.http_status = failure.outcome, failure.http_status
            told.problem = "" if failure.again else failure.reason
            raise failure from None
        finally:
            self._report(order, mode, told, time.monotonic() - started_s, tally)

    def _take(self, raw: bytes, order: Order, sent: Sent, told: _Told) -> Reply:
        """The reply in the bytes of an answer, and what can be learnt from it."""
        try:
            read = read_completion(raw)
        except ValueError:
            raise unreadable(self._settings, "is not JSON") from None
        if read is None:
            raise unreadable(self._settings)
        if isinstance(read, ErrorInside):
            raise from_status(read.code or 400, refusal_in(read.error), {}, self._settings)
        told.completion = read
        if read.finish_reason == "length" and (learnt := self._cut_off(read, sent)) is not None:
            raise self._adapted(200, learnt, told)
        reply = _reply(read, order, sent)
        whole = reply.finish_reason not in _CUT_OR_REFUSED and not reply.refused
        told.learnt = self._memory.answered(sent, has_form=reply.formless is None if whole else None)
        told.outcome, told.http_status, told.problem = Outcome.OK, 200, ""
        return reply

    def _cut_off(self, read: Completion, sent: Sent) -> str | None:
        """What is learnt from an answer that ran into its limit; None if asking in another way wouldn't help."""
        if not read.reasoned:
            return self._memory.bound(sent)
        if "max_tokens" in sent.parameters and self._settings.max_output_tokens is None:
            # Reasoning used up the limit that we set without being told to.
            return self._memory.leave_out(sent, Parameter.OUTPUT_LIMIT)
        return None

    def _adapted(self, http_status: int | None, learnt: str, told: _Told) -> RequestError:
        told.learnt = learnt
        return RequestError(
            f"{self._settings.endpoint} has to be asked in another way",
            Outcome.ADAPTED,
            again=True,
            http_status=http_status,
        )

    def _report(self, order: Order, mode: Mode, told: _Told, duration_s: float, tally: Tally) -> None:
        read = told.completion
        usage = Usage(
            requests=1,
            prompt_chars=order.chars,
            prompt_tokens=None if read is None else read.prompt_tokens,
            completion_tokens=None if read is None else read.completion_tokens,
        )
        tally.usages.append(usage)
        if told.learnt:
            _log.info("%s at %s: %s", self._settings.model, self._settings.endpoint, told.learnt)
        if self._on_request is None:
            return
        tally.trace_id = self._on_request(
            RequestReport(
                model=self._settings.model,
                outcome=told.outcome,
                duration_s=duration_s,
                usage=usage,
                questions=order.questions,
                http_status=told.http_status,
                problem=told.problem,
                mode=mode.value,
                learnt=told.learnt,
                finish_reason=None if read is None else read.finish_reason,
                response_model=None if read is None else read.model,
            )
        )

    async def _send(self, body: Mapping[str, JsonValue]) -> bytes:
        further = {name: value for name, value in body.items() if name not in ("model", "messages")}
        try:
            async with self._client.chat.completions.with_streaming_response.create(
                model=self._settings.model,
                messages=cast("list[ChatCompletionMessageParam]", body["messages"]),
                extra_body=further,
                extra_headers=self._left_out,
            ) as response:
                received = bytearray()
                async for chunk in response.iter_bytes():
                    received += chunk
                    if len(received) > MAX_REPLY_BYTES:
                        raise unreadable(self._settings, f"is longer than {MAX_REPLY_BYTES // 1024**2} MiB")
                return bytes(received)
        except openai.OpenAIError as error:
            raise from_library(error, self._settings) from error
        except httpx2.HTTPError as error:
            # The body is read by us, so the library doesn't wrap what breaks while it arrives.
            raise broken_off(error, self._settings) from error


@dataclass(slots=True, kw_only=True)
class _Told:
    """What is known of a request when it is reported."""

    outcome: Outcome
    problem: str
    http_status: int | None = None
    learnt: str = ""
    completion: Completion | None = None


def _reply(read: Completion, order: Order, sent: Sent) -> Reply:
    """The answer in a completion, wherever the endpoint put it."""
    properties = order.schema["properties"]
    names = frozenset(properties) if isinstance(properties, dict) else frozenset()
    text = read.arguments if sent.mode is Mode.TOOL_CALL and read.arguments is not None else read.content
    if not (text or "").strip() and read.reasoning is not None:
        # Some servers take an answer that begins without a mark of reasoning for reasoning.
        text = read.reasoning if is_object(read.reasoning) else text
    found = None if text is None else object_in(text, names)
    return Reply(
        text=text if found is None else orjson.dumps(found).decode(),
        finish_reason=read.finish_reason,
        refused=read.refused,
        formless=None if found is not None and _has_form(found, names, order, sent) else sent.mode,
    )


def _has_form(found: dict[str, JsonValue], names: frozenset[str], order: Order, sent: Sent) -> bool:
    """Whether the object is what was asked for; only where the endpoint is bound to it does every part count."""
    if sent.mode is Mode.STRICT_SCHEMA:
        return Draft202012Validator(schema_as_sent(order, sent.manner)).is_valid(found)
    return bool(names & found.keys())
