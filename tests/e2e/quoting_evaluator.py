"""An evaluator as somebody may write one: what it raises quotes what it was given."""

from evaluators import CaseKind, ComputedEvaluator, Level, RunCase, Screening


class Quoting(ComputedEvaluator[RunCase]):
    """Raises."""

    name = "quoting"
    judges = CaseKind.RUN
    level = Level.TRACE
    good_label = "good"
    bad_label = "bad"
    code_version = "1"

    def screen(self, case: RunCase) -> Screening:
        raise ValueError(f"can't read {case.run.final_answer!r}")
