"""Does to a sidecar what may happen to it, and reports what came of it: `python -m tests.chaos [SCENARIO…]`.

Bounded, on loopback, with real processes.  Exit code 0 if every promise was kept, 1 if one wasn't.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.chaos.scenarios.catalogue import SCENARIOS
from tests.chaos.scenarios.scenario import CannotRunError, Scenario
from tests.chaos.stage import LONG, SHORT, Scale


async def report(scenario: Scenario, scale: Scale, seed: int, parent: Path | None) -> bool:
    """Run one and print what came of it; True if every promise was kept."""
    began_s = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"chaos-{scenario.name}-", dir=parent))
    print(f"\n{scenario.name}: {scenario.promise}", flush=True)
    try:
        stage = await scenario.run(folder, scale, seed)
    except CannotRunError as error:
        print(f"  skipped: {error}", flush=True)
        return True
    except Exception as error:
        print(f"  FAILED   {type(error).__name__}: {error}\n  see {folder}", flush=True)
        return False
    for name, value in stage.figures.items():
        print(f"  {name}: {value}")
    broken = [check.what for check in stage.checks if not check.holds]
    for what in broken:
        print(f"  BROKEN   {what}")
    kept = len(stage.checks) - len(broken)
    print(f"  {kept} of {len(stage.checks)} checks hold, {time.monotonic() - began_s:.0f} s, seed {seed}", flush=True)
    if broken:
        print(f"  see {folder}", flush=True)
    return not broken


def main() -> int:
    """Run what was asked for, and print a last line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("scenarios", nargs="*", help="names; all by default", metavar="SCENARIO")
    parser.add_argument("--short", action="store_true", help="as in `make test`")
    parser.add_argument("--kills", type=int, help="how often the first scenario kills")
    parser.add_argument("--seed", type=int, help="as an earlier report told; else another one each time")
    parser.add_argument(
        "--folder", type=Path, help="where journals and logs are; else in the system's place for such files"
    )
    asked = parser.parse_args()
    names = {one.name: one for one in SCENARIOS}
    unknown = [name for name in asked.scenarios if name not in names]
    if unknown:
        parser.error(f"no scenario {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = [names[name] for name in asked.scenarios] or [one for one in SCENARIOS if one.in_tests or not asked.short]
    seed = random.randrange(1 << 20) if asked.seed is None else asked.seed
    scale = SHORT if asked.short else LONG
    if asked.kills is not None:
        scale = replace(scale, kills=asked.kills)
    kept = [asyncio.run(report(one, scale, seed, asked.folder)) for one in chosen]
    print(f"\n{sum(kept)} of {len(kept)} scenarios kept their promise")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
