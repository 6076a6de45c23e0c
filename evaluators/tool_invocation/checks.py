"""What rules can say of one call: each rule's findings, gathered.

In: a call, the tools it could have meant, and what the model had seen.  Out: a `CallCheck`.  The rules themselves are
in `evaluators.rules`; here is only which of them speak, and which of their findings decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from evaluators.cases import JsonValue, Tool, ToolCall, ToolResult
from evaluators.issues import IssueCode
from evaluators.rules.argument_errors import argument_error
from evaluators.rules.argument_grounding import Value, ungrounded, values_of
from evaluators.rules.argument_mixups import mixups
from evaluators.rules.errors import ErrorClass, error_of
from evaluators.rules.evidence import Evidence
from evaluators.rules.raw_arguments import ArgumentState, RawArguments, may_be_mangled, read_arguments
from evaluators.rules.repetition import argument_fingerprint
from evaluators.rules.schema import CompiledSchema, SchemaCache
from evaluators.rules.schema_forms import Schema
from evaluators.rules.secrets import redact, shown
from evaluators.rules.sensitive_arguments import sensitive
from evaluators.rules.stated_formats import unmet_format
from evaluators.rules.tool_names import find_tool, is_plumbing, is_providers_own
from evaluators.verdict import Issue, issue

_QUOTE_LENGTH = 60
_LONGEST_QUOTED = 10_000
_MOST_UNGROUNDED = 5
_MOST_EARLIER = 200


class CallState(StrEnum):
    """What is known of a call.

    wrong: a rule decides.  suspect: a rule suspects.  clean: the schema was seen and nothing was found.  open: there is
    text to judge by, but no schema.  missing: what is needed to judge wasn't captured.  skipped: not to be judged.
    """

    WRONG = "wrong"
    SUSPECT = "suspect"
    CLEAN = "clean"
    OPEN = "open"
    MISSING = "missing"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CallCheck:
    """The state of one call, what was found, and why it isn't judged if it isn't."""

    call: ToolCall
    state: CallState
    issues: tuple[Issue, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the calls of a turn have in common.

    `offered` are the tools of the turn, None when they weren't captured; `known` those of the whole run, to look a
    schema up for a call whose turn wasn't captured.  `earlier` are calls that the turn knows from its history, by the
    name of their tool: what a tool said to one of them it would say to the same call again.  `partial`: the turn was
    cut off while it was written.  `heard`: what the user said was captured.  `saw_all`: so was all else that the model
    had seen, results included, so that a value can be missed in it.
    `later`: the next call of a tool, by its name, where one failed without saying why.
    """

    offered: Sequence[Tool] | None
    known: Sequence[Tool]
    evidence: Evidence
    said_by_user: str
    earlier: Mapping[str, Sequence[ToolCall]] = field(default_factory=dict)
    partial: bool = False
    heard: bool = True
    saw_all: bool = True
    later: Mapping[str, ToolCall] = field(default_factory=dict)


def check_call(call: ToolCall, around: Surroundings, schemas: SchemaCache) -> CallCheck:
    """Run every rule on one call."""
    if is_plumbing(call):
        return CallCheck(call, CallState.SKIPPED, reason="The call hands over or delivers the output.")
    tool = find_tool(call.name, around.offered if around.offered is not None else around.known)
    if tool is None and is_providers_own(call):
        return CallCheck(call, CallState.SKIPPED, reason="The provider runs this tool itself.")
    if tool is None and around.offered:
        return CallCheck(call, CallState.SKIPPED, reason="No such tool was offered; that is tool_selection's to judge.")
    raw = read_arguments(call)
    if raw.state is ArgumentState.NOT_CAPTURED:
        return CallCheck(call, CallState.MISSING, reason="The call's arguments were not captured.")
    return _Checker(call, tool, raw, around, schemas).check()


class _Checker:
    """The rules on one call with arguments."""

    def __init__(
        self, call: ToolCall, tool: Tool | None, raw: RawArguments, around: Surroundings, schemas: SchemaCache
    ) -> None:
        self._call = call
        self._tool = tool
        self._raw = raw
        self._around = around
        self._compiled = schemas.get(tool.parameters) if tool is not None else None
        self._issues: list[Issue] = []
        self._unexplained = False
        self._unfounded = False

    def check(self) -> CallCheck:
        """Every rule in turn; the state follows from what they found."""
        readable = self._check_form()
        if readable:
            values = list(values_of(self._raw.value, self._properties))
            self._check_schema()
            self._check_sensitive(values)
            self._check_tools_answer(values)
            if not any(found.conclusive for found in self._issues):
                self._check_mixups()
                self._check_formats(values)
                if self._around.heard:
                    self._check_grounding(values)
        elif not any(found.conclusive for found in self._issues):
            self._check_tools_answer([])
        return CallCheck(self._call, self._state(), tuple(self._issues), self._reason())

    @property
    def _properties(self) -> Mapping[str, Schema]:
        return self._compiled.shape.properties if self._compiled is not None else {}

    def _state(self) -> CallState:
        if any(found.conclusive for found in self._issues):
            return CallState.WRONG
        if self._compiled is None and not self._described():
            return CallState.MISSING
        if self._issues:
            return CallState.SUSPECT
        if self._raw.state is not ArgumentState.OBJECT or self._call.truncated or self._compiled is None:
            return CallState.OPEN
        if self._unexplained or self._unfounded:
            return CallState.OPEN
        return CallState.CLEAN

    def _reason(self) -> str:
        if self._compiled is None:
            return f"The schema of `{_short(self._call.name)}` was not captured."
        if self._unfounded:
            return "Where a value comes from can't be told: not all that the model had seen was captured."
        return "The call failed, and its error doesn't say why." if self._unexplained else ""

    def _described(self) -> bool:
        """Whether the tool's description speaks of its arguments, so that there is something to judge by."""
        said = (self._tool.description or "") if self._tool is not None else ""
        return any(word in said for word in ("Args:", "Arguments:", "Parameters:", ":param", "@param", "参数")) or any(
            name in said for name in self._raw.value if len(name) > 2
        )

    def _found(self, code: IssueCode, detail: str, *, conclusive: bool) -> None:
        self._issues.append(issue(code, detail, call_id=self._call.id, ref=self._call.ref, conclusive=conclusive))

    def _check_form(self) -> bool:
        """Whether there is an object to check; if not, whose fault that is."""
        if self._raw.state is ArgumentState.OBJECT:
            return True
        cut = self._call.truncated or self._around.partial
        result = self._call.result
        executed = result is not None and error_of(result) is None
        if self._raw.state is ArgumentState.NOT_JSON:
            if cut or (self._compiled is None and not self._raw.text.lstrip().startswith(("{", "["))):
                return False
            if self._takes_bare_text():
                return False
            detail = f"The arguments are no valid JSON: {_quote(self._raw.text)}"
            sure = self._call.from_model and not executed and not may_be_mangled(self._raw.text)
            self._found(IssueCode.INVALID_JSON, detail, conclusive=sure)
        elif self._compiled is not None and self._compiled.shape.properties and not cut and not self._takes_bare_text():
            detail = f"The arguments are no JSON object: {_quote(self._raw.text)}"
            self._found(IssueCode.WRONG_TYPE, detail, conclusive=self._call.from_model and not executed)
        return False

    def _takes_bare_text(self) -> bool:
        """Agents that write their calls as text pass the only argument bare."""
        return len(self._properties) == 1 and not self._raw.text.lstrip().startswith("{")

    def _check_schema(self) -> None:
        compiled: CompiledSchema | None = self._compiled
        if compiled is None:
            return
        faults = compiled.faults(self._raw.value)
        doubtful: set[IssueCode] = set()
        if self._call.truncated or self._around.partial:
            doubtful = {fault.code for fault in faults}
        elif not self._call.from_model:
            # On a tool's own span frameworks add arguments, rename them, and write every value as text.
            doubtful = {IssueCode.UNEXPECTED_ARGUMENT, IssueCode.WRONG_TYPE}
            if any(fault.code is IssueCode.UNEXPECTED_ARGUMENT for fault in faults):
                doubtful.add(IssueCode.MISSING_ARGUMENT)
        for fault in faults:
            taken = fault.excusable and _succeeded(self._call)
            undescribed = fault.excusable and fault.code is IssueCode.WRONG_TYPE
            if not (taken and undescribed):
                sure = fault.code not in doubtful and not taken and not undescribed
                self._found(fault.code, fault.detail, conclusive=sure)

    def _check_sensitive(self, values: Sequence[Value]) -> None:
        for found in sensitive(values, self._tool):
            detail = (
                f"`{_short(found.path)}` holds {_KINDS.get(found.kind, 'a secret')}, which this tool has no use for."
            )
            self._found(IssueCode.SENSITIVE_VALUE, detail, conclusive=found.conclusive)

    def _check_tools_answer(self, values: Sequence[Value]) -> None:
        error = error_of(self._call.result or self._result_of_the_same())
        if error is None:
            return
        given = {name for value in values for name in (value.argument, value.name)} | set(self._raw.value)
        said = argument_error(
            error,
            known=set(self._properties),
            given=given,
            values=[(value.name, value.value) for value in values if isinstance(value.value, str)],
            said_by_user=self._around.said_by_user,
        )
        if said is not None:
            broken = self._raw.state is ArgumentState.NOT_JSON and said.conclusive
            self._found(IssueCode.INVALID_JSON if broken else said.code, said.detail, conclusive=said.conclusive)
        else:
            self._unexplained = error.kind is ErrorClass.OPAQUE

    def _result_of_the_same(self) -> ToolResult | None:
        same = argument_fingerprint(self._call)
        return next(
            (
                before.result
                for before in self._around.earlier.get(self._call.name, ())[:_MOST_EARLIER]
                if same is not None and argument_fingerprint(before) == same
            ),
            None,
        )

    def _check_mixups(self) -> None:
        seen = self._around.evidence.text
        for found in mixups(self._raw.value, self._properties, self._around.said_by_user, seen):
            self._found(IssueCode.WRONG_VALUE, redact(found.detail), conclusive=found.conclusive)

    def _check_formats(self, values: Sequence[Value]) -> None:
        for value in values:
            if isinstance(value.value, str) and (wanted := unmet_format(value.value, value.schema)) is not None:
                detail = f"`{_short(value.path)}` is {_quote(value.value)}; its description asks for {wanted}."
                mended = self._was_mended(value)
                if mended:
                    detail += " The call failed, and the next one, which has that form, succeeded."
                self._found(IssueCode.BAD_FORMAT, detail, conclusive=mended)

    def _was_mended(self, value: Value) -> bool:
        """Whether the call failed without saying why, and the tool's next call gave the value as asked for and didn't.

        Many frameworks hide a tool's error from the model and the trace.
        """
        error, later = error_of(self._call.result), self._around.later.get(self._call.name)
        if error is None or error.kind is not ErrorClass.OPAQUE or later is None or not _succeeded(later):
            return False
        if self._call.truncated or self._around.partial:
            return False
        return any(
            other.path == value.path
            and isinstance(other.value, str)
            and unmet_format(other.value, value.schema) is None
            for other in values_of(read_arguments(later).value, self._properties)
        )

    def _check_grounding(self, values: Sequence[Value]) -> None:
        # What the schema doesn't know and the model isn't seen to have written, a framework has put there.
        own = (value for value in values if self._call.from_model or value.argument in self._properties)
        suspects = (value for value in own if ungrounded(value, self._around.evidence))
        if not self._around.saw_all:
            self._unfounded = next(suspects, None) is not None
            return
        for value in islice(suspects, _MOST_UNGROUNDED):
            detail = f"`{_short(value.path)}` is {_quote(value.value)}, which nothing the model had seen says."
            self._found(IssueCode.UNGROUNDED_VALUE, detail, conclusive=False)


_KINDS = {
    "card": "the number of a payment card",
    "iban": "a bank account number",
    "national_id": "a personal identity number",
    "email": "an e-mail address",
    "phone": "a phone number",
    "address": "a postal address",
}


def _succeeded(call: ToolCall) -> bool:
    return call.result is not None and call.result.content is not None and error_of(call.result) is None


def _short(text: str) -> str:
    return shown(text, _QUOTE_LENGTH)


def _quote(value: JsonValue) -> str:
    return f"“{shown(' '.join(str(value)[:_LONGEST_QUOTED].split()), _QUOTE_LENGTH)}”"
