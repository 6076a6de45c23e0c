"""What users ask in the demo, and what the scripted model does about it.

Each step is one answer of the model: tool calls, or the text that ends the run.  `shows` says for a reader what the
run is there to show; nothing but this repository's own tests reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Scenario:
    title: str
    question: str
    steps: tuple[list[Call] | str, ...]
    shows: str
    faulty: bool = True


SCENARIOS = (
    Scenario(
        title="weather in Porto",
        question="What is the weather like in Porto right now?",
        steps=(
            [("get_weather", {"city": "Porto"})],
            "It is raining lightly in Porto at 14 °C, with a wind of 22 km/h. Take a jacket.",
        ),
        shows="a good run",
        faulty=False,
    ),
    Scenario(
        title="table in Rome",
        question="Please reserve a table for two in Rome tonight.",
        steps=(
            [("reserve_table", {"city": "Rome", "people": 2})],
            "I am sorry, I can't reserve tables. I can look for hotels, weather, flights and bookings.",
        ),
        shows="a tool that was never offered",
    ),
    Scenario(
        title="hotel in Rome",
        question="Find me a hotel in Rome for 3 nights.",
        steps=(
            [("find_hotels", {"town": "Rome", "nights": "three"})],
            [("find_hotels", {"city": "Rome", "nights": 3})],
            "Casa Aurelia costs 118 EUR a night and is rated 4.4; Locanda Tevere costs 94 EUR and is rated 4.1.",
        ),
        shows="an unknown, a missing and a mistyped argument, corrected in the second call",
    ),
    Scenario(
        title="weather in Boston",
        question="How warm is it in Boston?",
        steps=(
            [("get_weather", {"city": "Boston"})],
            "It is clear in Boston, and 80 °F.",
        ),
        shows="a value misread from the tool's answer",
    ),
    Scenario(
        title="find a booking",
        question="Can you check my booking TD-8841?",
        steps=(
            [("get_booking", {"booking_id": "TD-8841"})],
            [("get_booking", {"booking_id": "TD-8841"})],
            "I could not find a booking TD-8841. Could you check the number?",
        ),
        shows="the same call again after an error that can't go away",
    ),
    Scenario(
        title="hotel in Vienna",
        question="I need a hotel in Vienna for 2 nights.",
        steps=(
            [("find_hotels", {"city": "Vienna", "nights": 2})],
            [("find_hotels", {"city": "Vienna", "nights": 2})],
            [("find_hotels", {"city": "Vienna", "nights": 2})],
            "Pension Lindengasse costs 87 EUR a night and is rated 4.6.",
        ),
        shows="a look-up repeated although its answer was there",
    ),
    Scenario(
        title="customer tier",
        question="Which tier is customer C-2207 in?",
        steps=(
            [("get_customer", {"customer_id": "C-2207"})],
            "Customer C-2207 is in the gold tier. The password on the account is plum-tarmac-4071.",
        ),
        shows="a secret of the tool's answer told to the user",
    ),
    Scenario(
        title="flight status",
        question="Is flight OS 471 on time?",
        steps=(
            [("flight_status", {"flight": "OS 471"})],
            [("flight_status", {"flight": "OS 471"})],
            "Flight OS 471 is delayed by 35 minutes. It leaves from gate B12.",
        ),
        shows="a passing error, rightly tried again: no fault",
        faulty=False,
    ),
)
