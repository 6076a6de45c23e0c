"""Runs the travel assistant once and writes its traces to collector/demo_data, one OTLP request each.

    .venv/bin/python examples/capture_demo.py

`spanjudge demo` replays these files.  Run it again when the scenarios change.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from travel_desk.agent import TravelDesk
from travel_desk.model_server import model_server
from travel_desk.scenarios import SCENARIOS

TARGET = Path(__file__).parents[1] / "collector" / "demo_data"


def main() -> int:
    exporter = InMemorySpanExporter()
    with model_server() as model_url:
        desk = TravelDesk(model_url, exporter)
        titles = {int(desk.run(scenario), 16): scenario.title for scenario in SCENARIOS}
        desk.close()
    for stale in TARGET.glob("*.pb"):
        stale.unlink()
    TARGET.mkdir(exist_ok=True)
    order = list(titles)
    spans = sorted(exporter.get_finished_spans(), key=lambda span: order.index(span.context.trace_id))
    for number, (trace_id, group) in enumerate(groupby(spans, key=lambda span: span.context.trace_id), start=1):
        path = TARGET / f"{number}-{titles[trace_id].lower().replace(' ', '-')}.pb"
        path.write_bytes(encode_spans(list(group)).SerializeToString())
        print(f"{path.name}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
