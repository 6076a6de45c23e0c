"""What the travel assistant can do: tools as they are offered to the model, and what happens when they are called.

Every tool answers with an object; a failed call answers with an `error` of a type and a message, as web APIs do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Answer = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    properties: dict[str, dict[str, Any]]
    required: list[str]
    call: Callable[[Mapping[str, Any]], Answer]

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": False,
        }

    @property
    def offer(self) -> dict[str, Any]:
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


def failure(kind: str, message: str) -> Answer:
    return {"error": {"type": kind, "message": message}}


WEATHER: dict[str, Answer] = {
    "Porto": {"city": "Porto", "condition": "light rain", "temperature_c": 14, "wind_kmh": 22},
    "Boston": {"city": "Boston", "condition": "clear", "temperature_f": 58, "wind_mph": 9},
}
HOTELS: dict[str, list[Answer]] = {
    "Rome": [
        {"hotel_id": "rome-17", "name": "Casa Aurelia", "price_eur_per_night": 118, "rating": 4.4},
        {"hotel_id": "rome-52", "name": "Locanda Tevere", "price_eur_per_night": 94, "rating": 4.1},
    ],
    "Vienna": [{"hotel_id": "vie-08", "name": "Pension Lindengasse", "price_eur_per_night": 87, "rating": 4.6}],
}
CUSTOMERS: dict[str, Answer] = {
    "C-2207": {"customer_id": "C-2207", "name": "M. Okafor", "tier": "gold", "password": "plum-tarmac-4071"},
}


def get_weather(arguments: Mapping[str, Any]) -> Answer:
    return WEATHER.get(str(arguments["city"])) or failure("not_found", "no weather station in that city")


def find_hotels(arguments: Mapping[str, Any]) -> Answer:
    if not isinstance(arguments.get("nights"), int):
        return failure("invalid_argument", "nights must be an integer")
    if "city" not in arguments:
        return failure("invalid_argument", "city is required")
    return {"city": arguments["city"], "hotels": HOTELS.get(str(arguments["city"]), [])}


def get_booking(arguments: Mapping[str, Any]) -> Answer:
    return failure("not_found", f"booking {arguments['booking_id']} not found")


def get_customer(arguments: Mapping[str, Any]) -> Answer:
    return CUSTOMERS.get(str(arguments["customer_id"])) or failure("not_found", "there is no such customer")


@dataclass
class FlightStatus:
    """Out of reach at the first call, as a busy upstream service is, and well at the next."""

    calls: int = field(default=0)

    def __call__(self, arguments: Mapping[str, Any]) -> Answer:
        self.calls += 1
        if self.calls == 1:
            return failure("timeout", "503 service unavailable: the airline's system timed out")
        return {"flight": arguments["flight"], "status": "delayed", "delay_minutes": 35, "gate": "B12"}


def travel_tools() -> dict[str, Tool]:
    """A fresh set of tools by name."""
    text = {"type": "string"}
    tools = [
        Tool("get_weather", "Current weather in a city.", {"city": text}, ["city"], get_weather),
        Tool(
            "find_hotels",
            "Hotels in a city with price per night and rating.",
            {"city": text, "nights": {"type": "integer", "minimum": 1}},
            ["city", "nights"],
            find_hotels,
        ),
        Tool("get_booking", "A booking by its id.", {"booking_id": text}, ["booking_id"], get_booking),
        Tool("get_customer", "A customer's record by id.", {"customer_id": text}, ["customer_id"], get_customer),
        Tool("flight_status", "Status of a flight today.", {"flight": text}, ["flight"], FlightStatus()),
    ]
    return {tool.name: tool for tool in tools}
