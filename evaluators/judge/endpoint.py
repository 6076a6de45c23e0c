"""One request to an OpenAI-compatible endpoint: messages and a schema in, the model's words or a failure out.

The library's own retries are off: who asks decides about them.  Nothing is kept between requests.  Every request is
reported, also one that is given up.
"""

from __future__ import annotations

import logging
import time

import httpx2
import openai
import orjson

from evaluators.cases import JsonValue
from evaluators.judge.errors import RequestError, too_slow
from evaluators.judge.failures import broken_off, from_library, unreadable
from evaluators.judge.report import OnRequest, Outcome, RequestReport
from evaluators.judge.request import Order, Reply, Tally
from evaluators.judge.settings import JudgeSettings
from evaluators.verdict import Usage

MAX_REPLY_BYTES = 4 * 1024 * 1024
# The library refuses to start without a key; endpoints that need none ignore it.
_NO_KEY = "no-key"

# At debug level these write whole requests, and with them the run and the key, into the log.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Endpoint:
    """A client for one model at one address."""

    def __init__(self, settings: JudgeSettings, on_request: OnRequest | None = None) -> None:
        self._settings = settings
        self._on_request = on_request
        self._client = openai.AsyncOpenAI(
            api_key=settings.api_key.get_secret_value() or _NO_KEY,
            base_url=settings.base_url,
            default_headers={name: value.get_secret_value() for name, value in settings.headers.items()},
            timeout=settings.timeout,
            max_retries=0,
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def request(self, order: Order, tally: Tally) -> Reply:
        """Sends one request; what it cost is added to `tally` however it ends.

        Raises:
            RequestError: no reply came.
        """
        outcome, http_status, problem = Outcome.ABANDONED, None, too_slow(self._settings).reason
        prompt_tokens = completion_tokens = None
        started_s = time.monotonic()
        try:
            completion = await self._send(order)
            http_status = 200
            reply = _reply(completion, self._settings)
            outcome, problem = Outcome.OK, ""
            prompt_tokens = _tokens(completion, "prompt_tokens")
            completion_tokens = _tokens(completion, "completion_tokens")
            return reply
        except RequestError as failure:
            outcome, http_status, problem = failure.outcome, failure.http_status, failure.reason
            raise
        finally:
            usage = Usage(
                requests=1,
                prompt_chars=order.chars,
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
            )
            tally.usages.append(usage)
            if self._on_request is not None:
                tally.trace_id = self._on_request(
                    RequestReport(
                        model=self._settings.model,
                        outcome=outcome,
                        duration_s=time.monotonic() - started_s,
                        usage=usage,
                        questions=order.questions,
                        http_status=http_status,
                        problem=problem,
                    )
                )

    async def _send(self, order: Order) -> JsonValue:
        temperature = self._settings.temperature
        try:
            async with self._client.chat.completions.with_streaming_response.create(
                model=self._settings.model,
                messages=[
                    {"role": "system", "content": order.system},
                    {"role": "user", "content": order.user},
                ],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "answers", "strict": True, "schema": dict(order.schema)},
                },
                extra_body=None if temperature is None else {"temperature": temperature},
            ) as response:
                body = bytearray()
                async for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > MAX_REPLY_BYTES:
                        raise unreadable(self._settings, f"is longer than {MAX_REPLY_BYTES // 1024**2} MiB")
        except openai.OpenAIError as error:
            raise from_library(error, self._settings) from error
        except httpx2.HTTPError as error:
            # The body is read by us, so the library doesn't wrap what breaks while it arrives.
            raise broken_off(error, self._settings) from error
        try:
            parsed: JsonValue = orjson.loads(bytes(body))
        except orjson.JSONDecodeError:
            raise unreadable(self._settings, "is not JSON") from None
        return parsed


def _reply(completion: JsonValue, settings: JudgeSettings) -> Reply:
    choices = completion.get("choices") if isinstance(completion, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise unreadable(settings)
    content, reason = message.get("content"), choice.get("finish_reason")
    return Reply(
        text=content if isinstance(content, str) else None,
        finish_reason=reason if isinstance(reason, str) else None,
        refused=bool(message.get("refusal")),
    )


def _tokens(completion: JsonValue, name: str) -> int | None:
    usage = completion.get("usage") if isinstance(completion, dict) else None
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None
