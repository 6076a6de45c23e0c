"""Addresses are compared by where they lead: hosts by what they name, unix sockets by their path."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from collector.config.addresses import collisions, find_addresses


class Listening(BaseModel):
    transport: str = "tcp"
    endpoint: str


class Sending(BaseModel):
    endpoint: str


def complaints(first: Listening, second: BaseModel) -> list[str]:
    listening = list(find_addresses(first, ("first",)))
    found = list(find_addresses(second, ("second",)))
    if isinstance(second, Listening):
        return [problem.what + "; " + problem.remedy for problem in collisions([*listening, *found], [])]
    return [problem.what for problem in collisions(listening, found)]


@pytest.mark.parametrize("other", ["/run/otlp.sock", "/run//otlp.sock"])
def test_two_receivers_on_one_socket_are_told(other: str) -> None:
    first = Listening(transport="unix", endpoint="/run/otlp.sock")
    assert complaints(first, Listening(transport="unix", endpoint=other)) == [
        "the same address as first::endpoint; use another path for one of them"
    ]


def test_a_relative_path_is_the_same_as_its_absolute_one() -> None:
    first = Listening(transport="unix", endpoint="run/otlp.sock")
    assert complaints(first, Listening(transport="unix", endpoint=str(Path.cwd() / "run" / "otlp.sock")))


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("unix:/run/otlp.sock", True),
        ("unix:///run/otlp.sock", True),
        ("unix:///run/other.sock", False),
        ("run:4317", False),
    ],
)
def test_sending_to_an_own_socket_is_told(target: str, told: bool) -> None:
    first = Listening(transport="unix", endpoint="/run/otlp.sock")
    assert bool(complaints(first, Sending(endpoint=target))) is told
