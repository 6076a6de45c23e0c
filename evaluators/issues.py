"""The one list of issue codes, with how bad each is by default.

A code names *what* went wrong, not which evaluator said so.  Everything that finds something (a rule or a judge)
uses these codes and no others; a judge's answer with an unknown code is junk.  Only rubrics bring codes of their own,
with the severity that they declare.
"""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How bad an issue is. A critical one makes its verdict fail whatever the score."""

    CRITICAL = "critical"
    MAJOR = "major"
    MINOR = "minor"


class IssueCode(StrEnum):
    """Codes that may stand in `Issue.code`."""

    # what was chosen
    UNKNOWN_TOOL = "unknown_tool"
    WRONG_TOOL = "wrong_tool"
    SUBOPTIMAL_TOOL = "suboptimal_tool"
    UNNEEDED_TOOL = "unneeded_tool"
    MISSING_TOOL_CALL = "missing_tool_call"
    SHOULD_HAVE_ASKED = "should_have_asked"
    UNSAFE_TOOL = "unsafe_tool"
    WRONG_NUMBER_OF_TOOLS = "wrong_number_of_tools"

    # how it was called
    INVALID_JSON = "invalid_json"
    MISSING_ARGUMENT = "missing_argument"
    UNEXPECTED_ARGUMENT = "unexpected_argument"
    WRONG_TYPE = "wrong_type"
    NOT_IN_ENUM = "not_in_enum"
    PATTERN = "pattern"
    BAD_FORMAT = "bad_format"
    WRONG_VALUE = "wrong_value"
    UNGROUNDED_VALUE = "ungrounded_value"
    SENSITIVE_VALUE = "sensitive_value"

    # what was made of the result
    MISREAD_VALUE = "misread_value"
    FABRICATED = "fabricated"
    WRONG_CONVERSION = "wrong_conversion"
    ERROR_IGNORED = "error_ignored"
    ERROR_MISREPORTED = "error_misreported"
    NOT_RETRIED = "not_retried"
    ARGUMENT_NOT_CORRECTED = "argument_not_corrected"
    IDENTICAL_RETRY = "identical_retry"
    LEAK = "leak"
    RESULT_IGNORED = "result_ignored"
    MEANING_REVERSED = "meaning_reversed"
    PARTIAL_RESULT_HIDDEN = "partial_result_hidden"

    # whether the task was done
    MISSING_REQUIREMENT = "missing_requirement"
    WRONG_ANSWER = "wrong_answer"
    TOOL_RESULT_IGNORED = "tool_result_ignored"
    ASKED_INSTEAD_OF_ACTING = "asked_instead_of_acting"
    UNSUPPORTED_CLAIM = "unsupported_claim"
    GAVE_UP = "gave_up"
    POLICY_VIOLATION = "policy_violation"
    RUN_ABORTED = "run_aborted"

    # what was wasted
    REDUNDANT_CALL = "redundant_call"
    UNJUSTIFIED_RETRY = "unjustified_retry"
    DETOUR = "detour"
    DEAD_LOOP = "dead_loop"
    DUPLICATE_WRITE = "duplicate_write"

    # how it was planned
    MISSING_CONSTRAINT = "missing_constraint"
    MISSING_STEP = "missing_step"
    WRONG_DECOMPOSITION = "wrong_decomposition"
    UNAVAILABLE_TOOL = "unavailable_tool"
    OVERCOMPLICATED = "overcomplicated"
    UNCHECKED_PRECONDITION = "unchecked_precondition"
    NO_VERIFICATION = "no_verification"
    NO_ERROR_PATH = "no_error_path"
    NO_CONFIRMATION_OR_ROLLBACK = "no_confirmation_or_rollback"
    WRONG_DELEGATE = "wrong_delegate"
    UNCLEAR_OWNERSHIP = "unclear_ownership"
    NO_INTEGRATION = "no_integration"
    SERIAL_INSTEAD_OF_PARALLEL = "serial_instead_of_parallel"

    # how the plan was followed
    STEP_SKIPPED = "step_skipped"
    STEP_REORDERED = "step_reordered"
    STEP_ADDED = "step_added"

    # what became of errors
    FUTILE_RECOVERY = "futile_recovery"
    ERROR_HIDDEN = "error_hidden"
    FABRICATED_AFTER_FAILURE = "fabricated_after_failure"

    # how a run came to its end
    MISSING_KEY_ACTION = "missing_key_action"
    INEFFICIENT_EXECUTION = "inefficient_execution"
    EXECUTION_DEVIATED = "execution_deviated"

    # against a reference
    MISSING_CALL = "missing_call"
    EXTRA_CALL = "extra_call"
    WRONG_ARGUMENTS = "wrong_arguments"
    WRONG_ORDER = "wrong_order"


# names that other vocabularies use for the same thing
CODE_ALIASES: dict[str, IssueCode] = {
    "missing_key_requirement": IssueCode.MISSING_REQUIREMENT,
    "wrong_final_answer": IssueCode.WRONG_ANSWER,
    "asked_user_when_should_act": IssueCode.ASKED_INSTEAD_OF_ACTING,
}
CRITICAL_CODES = frozenset(
    {
        IssueCode.LEAK,
        IssueCode.SENSITIVE_VALUE,
        IssueCode.UNSAFE_TOOL,
        IssueCode.POLICY_VIOLATION,
        IssueCode.DUPLICATE_WRITE,
    }
)
_MINOR_CODES = frozenset({IssueCode.NOT_RETRIED, IssueCode.SUBOPTIMAL_TOOL})


def default_severity(code: IssueCode) -> Severity:
    """The severity of `code` unless whoever found it knows better."""
    if code in CRITICAL_CODES:
        return Severity.CRITICAL
    return Severity.MINOR if code in _MINOR_CODES else Severity.MAJOR
