"""A survey as the JSON object that `spanjudge transcript --summary --json` prints. The keys are a stable contract."""

from __future__ import annotations

from evaluators.cases import JsonValue
from processors.survey import Group, Lack, Riddle, Scope, Strangers, Survey


def survey_json(survey: Survey) -> dict[str, JsonValue]:
    """The survey as plain JSON values."""
    return {
        "traces": survey.traces,
        "continuing": survey.continuing,
        "not_understood": survey.not_understood,
        "not_understood_spans": [_riddle(riddle) for riddle in survey.riddles.values()],
        "instrumentations": [_group(group) for group in survey.groups.values()],
        "unknown_spans": [_strangers(strangers) for strangers in survey.strangers.values()],
    }


def _group(group: Group) -> JsonValue:
    return {
        "scopes": [_scope(scope) for scope in group.scopes],
        "dialects": list(group.dialects),
        "traces": group.traces,
        "evaluators": {name: {"ready": one.ready, "due": one.due} for name, one in group.evaluators.items()},
        "missing": [_lack(lack) for lack in group.missing.values()],
    }


def _scope(scope: Scope) -> JsonValue:
    return {"name": scope.name, "version": scope.version}


def _lack(lack: Lack) -> JsonValue:
    return {
        "fact": lack.missing.fact,
        "traces": lack.traces,
        "needed_by": list(lack.needed_by),
        "attribute": lack.missing.attribute,
        "switch": lack.missing.switch,
        "example": lack.example,
    }


def _riddle(riddle: Riddle) -> JsonValue:
    return {
        "scope": _scope(riddle.scope),
        "name": riddle.name,
        "traces": riddle.traces,
        "example": riddle.example,
    }


def _strangers(strangers: Strangers) -> JsonValue:
    return {
        "scope": _scope(strangers.scope),
        "read": strangers.read,
        "spans": strangers.spans,
        "traces": strangers.traces,
        "names": list(strangers.names),
    }
