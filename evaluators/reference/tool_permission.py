"""Share of calls that a list of permitted tools allows.

Source: DeepEval 4.3.1, `ToolPermission`.  Names have to be equal; what is denied is denied even if it is allowed as
well; no calls are 1.  In: the calls of a run and the lists of the settings; no reference is needed.
"""

from __future__ import annotations

from pydantic import Field

from evaluators.cases import RunCase
from evaluators.evaluator import Screening
from evaluators.issues import IssueCode
from evaluators.reference.calls import Call, made_calls
from evaluators.reference.metric import CallMetric, Measured, ReferenceSettings, lacking_calls, missing, screening
from evaluators.rules.secrets import shown
from evaluators.verdict import Method, issue

_MOST_OF_NAME = 64


class ToolPermissionSettings(ReferenceSettings):
    """Which tools may be called."""

    allowed_tools: tuple[str, ...] | None = Field(
        default=None, description="Tools that may be called; without this list, all that aren't denied."
    )
    denied_tools: tuple[str, ...] | None = Field(default=None, description="Tools that must not be called.")
    strict_mode: bool = Field(default=False, description="Score 0 unless every call is permitted.")


class ToolPermission(CallMetric):
    """Permitted calls / calls."""

    name = "tool_permission"
    method = Method.RULE

    def __init__(self, settings: ToolPermissionSettings | None = None) -> None:
        super().__init__(settings or ToolPermissionSettings())
        self._policy = settings or ToolPermissionSettings()

    def screen(self, case: RunCase) -> Screening:
        """The share, with an issue for each call that wasn't permitted."""
        policy = self._policy
        if policy.allowed_tools is None and policy.denied_tools is None:
            return missing("There is no policy to hold calls against: name allowed_tools or denied_tools.")
        lacking = lacking_calls(case)
        if lacking is not None:
            return lacking
        calls = made_calls(case.run)
        refused = [call for call in calls if not self._permits(call)]
        score = 1 - len(refused) / len(calls) if calls else 1.0
        measured = Measured(
            score=0.0 if policy.strict_mode and refused else score,
            reason=f"{len(calls) - len(refused)} of {len(calls)} calls are of tools that are permitted.",
            issues=tuple(
                issue(
                    IssueCode.POLICY_VIOLATION,
                    f"{shown(call.name, _MOST_OF_NAME)} is not among the tools that are permitted.",
                    call_id=call.id,
                    ref=call.ref,
                )
                for call in refused
            ),
        )
        return screening(measured, case)

    def _permits(self, call: Call) -> bool:
        if call.name in (self._policy.denied_tools or ()):
            return False
        return self._policy.allowed_tools is None or call.name in self._policy.allowed_tools
