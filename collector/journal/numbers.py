"""The numbers of records: each is given once."""

from __future__ import annotations


class Numbers:
    """Counts upwards from the least number that was never used."""

    def __init__(self, next_number: int) -> None:
        self.next_number = next_number

    def take(self) -> int:
        """A number that nobody has."""
        number = self.next_number
        self.next_number += 1
        return number
