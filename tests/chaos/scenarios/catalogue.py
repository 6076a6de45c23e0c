"""All scenarios."""

from __future__ import annotations

from tests.chaos.scenarios import backends, clocks, damage, disks, endurance, judges, kills, reloads

SCENARIOS = (
    *kills.SCENARIOS,
    *damage.SCENARIOS,
    *backends.SCENARIOS,
    *disks.SCENARIOS,
    *clocks.SCENARIOS,
    *judges.SCENARIOS,
    *reloads.SCENARIOS,
    *endurance.SCENARIOS,
)
