"""`spanjudge calibrate`: how far verdicts agree with what people say.

In: labelled cases, which are judged now, or verdicts of saved traces with annotations that people gave them.  Out: a
table per evaluator, language and source, with the cases in which both differ, and on demand a record by which a sidecar
knows which judges to trust.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from collector.commands.calibration_view import CalibrationView
from collector.commands.case_options import (
    DEFAULT_MODEL,
    CasesConfigOption,
    JudgeModelOption,
    JudgeOption,
    plan_or_exit,
)
from collector.commands.reporting import report, show
from collector.judging.cases import evaluators_for_cases, judge_cases, read_cases_for
from collector.judging.setup import Plan
from evaluators.calibration.comparison import Compared, measured
from evaluators.calibration.labels import About, read_annotations, read_case_labels
from evaluators.calibration.record import write_record
from evaluators.calibration.scripts import script_of
from evaluators.case_files.lines import BadLine, NamedCase
from evaluators.doubts import is_unchecked
from evaluators.evaluator import Evaluator
from evaluators.verdict import Level, Verdict
from processors.verdicts.verdict_json import verdict_of

EXAMPLES = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("calibrate")(calibrate)


def calibrate(
    cases: Annotated[
        Path | None, typer.Argument(help="File with one labelled case per line.", metavar="CASES", show_default=False)
    ] = None,
    judge: JudgeOption = None,
    judge_model: JudgeModelOption = DEFAULT_MODEL,
    config: CasesConfigOption = None,
    verdicts: Annotated[
        Path | None, typer.Option(help="Verdicts on traces, as replay --verdicts writes them.", metavar="FILE")
    ] = None,
    annotations: Annotated[
        Path | None,
        typer.Option(help="What people said of these: annotations exported from Phoenix, Langfuse …", metavar="FILE"),
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Differences to show of each kind.", metavar="N")] = EXAMPLES,
    record: Annotated[
        Path | None, typer.Option(help="Write what the calibration extension reads here.", metavar="FILE")
    ] = None,
) -> None:
    """Compare verdicts with what people say.

    Either of labelled CASES, which are judged first, or of --verdicts on traces with --annotations.
    """
    if cases is not None and verdicts is None and annotations is None:
        plan = plan_or_exit(config, judge, judge_model)
        compared, notes, faults = _compared_cases(cases, plan)
    elif cases is None and verdicts is not None and annotations is not None:
        compared, notes, faults = _compared_annotations(verdicts, annotations)
    else:
        report((), ["name either a file of labelled CASES, or --verdicts together with --annotations"])
        raise typer.Exit(2)
    if unchecked := sum(is_unchecked(one.verdict) for one in compared):
        notes = [*notes, f"{unchecked} verdicts are of a model that is too weak for control statements"]
    if compared:
        show(CalibrationView(compared, examples))
    else:
        notes = [*notes, "nothing was found that people have labelled"]
    if record is not None:
        found = list(measured(compared))
        if not found:
            faults = [*faults, f"{record}: is not written, as no judge has decided anything; name one with --judge"]
        try:
            if found:
                write_record(record, found)
        except OSError as error:
            faults = [*faults, f"{record}: can't be written: {error.strerror}"]
    report(notes, faults)
    if faults:
        raise typer.Exit(1)


def _compared_cases(path: Path, plan: Plan) -> tuple[list[Compared], Sequence[str], Sequence[str]]:
    """The labelled cases of a file with their verdicts, notes, and what went wrong."""
    text = _read_or_exit(path)
    evaluators, labels = evaluators_for_cases(plan), read_case_labels(text.splitlines())
    read = read_cases_for(evaluators, text.splitlines())
    labelled = [one for one in read if isinstance(one, NamedCase) and one.case_id in labels]
    unlabelled = sum(isinstance(one, NamedCase) for one in read) - len(labelled)
    compared = []
    for case, verdict in asyncio.run(_judged(labelled, evaluators, plan)):
        label = labels[case.case_id]
        compared.append(
            Compared(
                name=case.case_id,
                bad=label.bad,
                verdict=verdict,
                threshold=evaluators[case.evaluator].settings.threshold,
                language=script_of(label.text),
                source=label.source,
            )
        )
    notes = [*plan.notes, *([f"{unlabelled} cases have no label"] if unlabelled else [])]
    return compared, notes, [f"{path}:{one.line}: {one.fault}" for one in read if isinstance(one, BadLine)]


async def _judged(
    cases: Iterable[NamedCase], evaluators: Mapping[str, Evaluator[Any]], plan: Plan
) -> list[tuple[NamedCase, Verdict]]:
    return [judged async for judged in judge_cases(cases, evaluators, plan)]


def _compared_annotations(verdicts: Path, annotations: Path) -> tuple[list[Compared], Sequence[str], Sequence[str]]:
    """The verdicts that people annotated, notes, and what went wrong."""
    faults = []
    try:
        labels = read_annotations(_read_or_exit(annotations))
    except ValueError as error:
        report((), [f"{annotations}: {error}"])
        raise typer.Exit(1) from None
    compared = []
    for number, line in enumerate(_read_or_exit(verdicts).splitlines(), 1):
        if not line.strip():
            continue
        try:
            written = orjson.loads(line)
            verdict = verdict_of(written)
        except ValueError as error:
            faults.append(f"{verdicts}:{number}: {error}")
            continue
        on_span = About("", str(written.get("span_id")), verdict.evaluator)
        on_trace = About(str(written.get("trace_id")), "", verdict.evaluator)
        bad = labels.bad.get(on_span)
        if bad is None and verdict.level is not Level.SPAN:
            bad = labels.bad.get(on_trace)
        if bad is not None:
            name = f"{written.get('trace_id')}/{written.get('span_id')}"
            compared.append(Compared(name=name, bad=bad, verdict=verdict))
    notes = []
    if labels.passed_over:
        notes.append(f"{labels.passed_over} annotations are no person's, or say neither good nor bad")
    if (unmatched := len(labels.bad) - len(compared)) > 0:
        notes.append(f"{unmatched} annotations are about spans or evaluators that have no verdict")
    return compared, notes, faults


def _read_or_exit(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        report((), [f"{path}: can't be read: {error.strerror}"])
        raise typer.Exit(1) from error
