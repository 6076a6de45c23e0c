"""A few tries at everything that reads strangers' bytes: the seeds, seeds that were damaged, bytes at random, and what
longer searches have found.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

FOUND = sorted(path for path in (Path(__file__).parent / "found").glob("*/*") if path.is_file())


@st.composite
def damaged(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """A seed with some of its bytes changed, taken out, repeated or added."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.integers(0, 12))
        change = draw(st.sampled_from(["change", "remove", "repeat", "insert", "cut"]))
        if change == "cut":
            del data[at:]
        elif change == "remove":
            del data[at : at + size]
        elif change == "repeat":
            data[at:at] = data[at : at + size] * draw(st.integers(1, 30))
        else:
            data[at : at + (size if change == "change" else 0)] = draw(st.binary(max_size=12))
    return bytes(data)


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_is_borne(name: str) -> None:
    for seed in TARGETS[name].seeds()[:40]:
        TARGETS[name].check(seed)


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_damaged_or_random_is_borne(name: str) -> None:
    target = TARGETS[name]
    seeds = sorted(target.seeds(), key=len)[:25]

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(damaged(seeds) | st.binary(max_size=200))
    def check(data: bytes) -> None:
        target.check(data)

    check()


@pytest.mark.parametrize("path", FOUND, ids=[f"{path.parent.name}-{path.name}" for path in FOUND])
def test_what_a_search_has_found_is_borne(path: Path) -> None:
    TARGETS[path.parent.name].check(path.read_bytes())
