"""What one destination is owed in sum, and the record that has waited longest for it, without looking through them all.

Records come to it about in the order of their age, and go in any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

# Below this many, records that have gone aren't worth the work of taking them out.
_FEW = 1000


class Tally:
    """See the module's text. `items`, `size_bytes`, `records`: what is owed now."""

    def __init__(self) -> None:
        self.items = 0
        self.size_bytes = 0
        self.records = 0
        # Those that were owed once; some may be gone already.
        self._numbers: deque[int] = deque()

    def add(self, number: int, items: int, size_bytes: int) -> None:
        """Something of this record is owed."""
        self.items += items
        self.size_bytes += size_bytes
        self.records += 1
        self._numbers.append(number)

    def lessen(self, items: int) -> None:
        """So many items of a record are owed no more, but others of it are."""
        self.items -= items

    def remove(self, items: int, size_bytes: int) -> None:
        """The last items of a record are owed no more."""
        self.items -= items
        self.size_bytes -= size_bytes
        self.records -= 1

    def oldest(self, is_owed: Callable[[int], bool]) -> int | None:
        """The record that came first of those that are owed. What isn't owed any more is forgotten."""
        numbers = self._numbers
        while numbers and not is_owed(numbers[0]):
            numbers.popleft()
        if len(numbers) > 2 * self.records + _FEW:
            self._numbers = deque(number for number in numbers if is_owed(number))
        return self._numbers[0] if self._numbers else None

    def sort(self, age: Callable[[int], int]) -> None:
        """Put what came in another order into that of its age."""
        self._numbers = deque(sorted(self._numbers, key=age))

    @property
    def is_littered(self) -> bool:
        """Whether so much is remembered that is gone that `oldest` should be asked, whoever wants to know."""
        return len(self._numbers) > 2 * self.records + _FEW
