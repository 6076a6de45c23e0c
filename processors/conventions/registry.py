"""The dialects that are read, and one account per span from all readers that understand it.

A new dialect is one module with a reader, and one line in `READERS`.
"""

from __future__ import annotations

from functools import reduce

from processors.conventions.decoding.messages import Messages
from processors.conventions.dialects.adk import Adk
from processors.conventions.dialects.agent_framework import AgentFramework
from processors.conventions.dialects.agentops import AgentOps
from processors.conventions.dialects.autogen import AutoGen
from processors.conventions.dialects.braintrust import Braintrust
from processors.conventions.dialects.claude_code import ClaudeCode
from processors.conventions.dialects.content_events import ContentEvents
from processors.conventions.dialects.genai import GenAI
from processors.conventions.dialects.generic import Generic
from processors.conventions.dialects.genkit import Genkit
from processors.conventions.dialects.haystack_tracing import HaystackTracing
from processors.conventions.dialects.laminar import Laminar
from processors.conventions.dialects.langfuse import Langfuse
from processors.conventions.dialects.langsmith import LangSmith
from processors.conventions.dialects.langwatch import LangWatch
from processors.conventions.dialects.litellm import LiteLLM
from processors.conventions.dialects.logfire import Logfire
from processors.conventions.dialects.mastra import Mastra
from processors.conventions.dialects.mlflow import MLflow
from processors.conventions.dialects.openinference import OpenInference
from processors.conventions.dialects.openlit import OpenLIT, OpenLITCalls
from processors.conventions.dialects.pydantic_ai import PydanticAI
from processors.conventions.dialects.springai import SpringAI
from processors.conventions.dialects.traceloop import Traceloop
from processors.conventions.dialects.vercel import Vercel
from processors.conventions.dialects.voltagent import VoltAgent
from processors.conventions.facts import SpanFacts
from processors.conventions.frameworks.refining import Frameworks
from processors.conventions.limits import incomplete
from processors.conventions.merging import merged
from processors.conventions.reader import Reader
from processors.otlp import Span

READERS = (
    OpenInference,
    ClaudeCode,
    Adk,
    GenAI,
    AgentFramework,
    PydanticAI,
    LiteLLM,
    Vercel,
    ContentEvents,
    OpenLITCalls,
    Traceloop,
    LangSmith,
    Langfuse,
    MLflow,
    Laminar,
    LangWatch,
    AgentOps,
    Braintrust,
    Logfire,
    HaystackTracing,
    AutoGen,
    Genkit,
    Mastra,
    SpringAI,
    VoltAgent,
)
"""In order of trust: those that record messages with calls and results, then those with one value in and one out.

What becomes of a fact that several speak of is said in `merging`.
"""

ALONE = (OpenLIT,)
"""Readers of spans that look as if they were in another dialect as well, and aren't."""

MARKS: tuple[bytes, ...] = tuple(dict.fromkeys(mark for reader in (*READERS, *ALONE, Generic) for mark in reader.marks))
"""Byte strings one of which is in every serialised span that some reader reads, if it is of none of `SCOPES`."""

SCOPES: tuple[bytes, ...] = (*OpenLIT.scopes, *Adk.scopes)
"""How the serialised scopes begin whose spans are read whatever is on them."""


class Readers:
    """All readers, for the spans of one trace."""

    def __init__(self, limit: int | None = None) -> None:
        messages = Messages(limit)
        self._readers: list[Reader] = [make(messages, limit) for make in READERS]
        self._alone: list[Reader] = [make(messages, limit) for make in ALONE]
        self._generic: Reader = Generic(messages, limit)
        self._frameworks = Frameworks(messages)
        self._limit = limit

    def read(self, span: Span) -> SpanFacts | None:
        """What a span says in the dialects on it, or else by its keys' plain meaning; None when it says nothing."""
        facts = self._read(span)
        return incomplete(facts, span, self._limit) if facts is not None else None

    def _read(self, span: Span) -> SpanFacts | None:
        for reader in self._alone:
            if reader.reads(span):
                return reader.read(span)
        accounts = [reader.read(span) for reader in self._readers if reader.reads(span)]
        if not accounts:
            return self._generic.read(span) if self._generic.reads(span) else None
        return self._frameworks.refined(span, reduce(merged, accounts))
