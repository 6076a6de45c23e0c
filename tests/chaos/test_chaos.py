"""The short form of what `make chaos` does at length: promises kept while things go wrong, with real processes."""

from pathlib import Path

import pytest

from tests.chaos.scenarios.catalogue import SCENARIOS
from tests.chaos.scenarios.scenario import CannotRunError, Scenario
from tests.chaos.stage import SHORT

SEED = 1


@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.name) for one in SCENARIOS if one.in_tests])
async def test_promises_are_kept(scenario: Scenario, tmp_path: Path) -> None:
    try:
        stage = await scenario.run(tmp_path, SHORT, SEED)
    except CannotRunError as error:
        pytest.skip(str(error))
    assert not [check.what for check in stage.checks if not check.holds], stage.figures
