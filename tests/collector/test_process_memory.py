"""When memory is given back: after a peak has passed and it has been calm, and not again and again."""

import resource

from collector.process_memory import Trimming, raise_file_limit, resident_bytes

MIB = 1 << 20


class Process:
    def __init__(self) -> None:
        self.resident = 100 * MIB
        self.kept = 100 * MIB
        self.trims = 0
        self.now_s = 0.0
        self.trimming = Trimming(lambda: self.resident, self.trim)

    def trim(self) -> None:
        self.trims += 1
        self.resident = self.kept

    def live(self, seconds: float, held: int = 0) -> None:
        for _ in range(int(seconds)):
            self.now_s += 1
            self.trimming.look(held, self.now_s)


def test_after_a_peak_and_a_calm_minute_memory_is_given_back_once() -> None:
    process = Process()
    process.live(20)
    process.resident = 500 * MIB
    process.live(60)
    assert process.trims == 0
    process.live(30)
    assert process.trims == 1
    process.live(600)
    assert process.trims == 1


def test_what_is_held_on_purpose_is_no_peak_and_no_calm() -> None:
    process = Process()
    process.live(20)
    process.resident = 500 * MIB
    process.live(600, held=380 * MIB)
    assert process.trims == 0
    process.live(100)
    assert process.trims == 1


def test_what_cannot_be_given_back_is_not_asked_for_again() -> None:
    process = Process()
    process.live(20)
    process.resident = process.kept = 400 * MIB
    process.live(1000)
    assert process.trims == 1


def test_the_system_tells_how_much_there_is_and_the_file_limit_rises_to_what_is_allowed() -> None:
    assert resident_bytes() > MIB
    raise_file_limit()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft == hard
