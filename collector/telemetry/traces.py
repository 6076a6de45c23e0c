"""What happened to spans between receivers and exporters."""

from __future__ import annotations

from collector.telemetry.instruments import Instruments


class TraceMetrics:
    """Counts of what holding and judging came to.

    Args:
        instruments: where it is counted.
    """

    def __init__(self, instruments: Instruments) -> None:
        counter = instruments.counter
        self._late = counter("processor_late_spans", "Spans of traces that were already judged.", "{span}")
        self._deduplicated = counter("processor_deduplicated_spans", "Byte-equal repeats, not sent on.", "{span}")
        self._created = counter("processor_created_spans", "Evaluation spans made here.", "{span}")
        self._restarts = counter("processor_judging_restarts", "Judging processes that were replaced.", "{restart}")
        self._verdicts = counter("processor_verdicts", "Verdicts by evaluator, status, label and method.", "{verdict}")
        self._admissions = counter(
            "processor_admissions", "Cases by evaluator and by why a judge was asked about them or why not.", "{case}"
        )

    def late(self, spans: int) -> None:
        """Spans that came after their trace was judged."""
        self._late.add(spans)

    def deduplicated(self, spans: int) -> None:
        """Spans that were dropped because the very same bytes had come before."""
        self._deduplicated.add(spans)

    def created(self, spans: int) -> None:
        """Evaluation spans that were made."""
        self._created.add(spans)

    def judging_restarted(self) -> None:
        """The judging process ended or hung, and another one takes its place."""
        self._restarts.add(1)

    def judged(
        self, evaluator: str, status: str, label: str | None, method: str, uncalibrated: bool, verdicts: int = 1
    ) -> None:
        """Verdicts, scored or not."""
        self._verdicts.add(
            verdicts,
            (
                ("evaluator", evaluator),
                ("status", status),
                ("label", label or ""),
                ("method", method),
                ("uncalibrated", uncalibrated),
            ),
        )

    def admitted(self, evaluator: str, decision: str, cases: int) -> None:
        """Cases about which a judge was asked or wasn't."""
        self._admissions.add(cases, (("evaluator", evaluator), ("decision", decision)))
