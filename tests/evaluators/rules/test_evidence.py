"""What a model had seen, however much of it there is."""

from evaluators.rules.evidence import Evidence, Told


def told(*texts: str) -> Told:
    made = Told()
    for text in texts:
        made.add(text)
    return made


def test_a_number_in_a_range_is_found_with_both_ends_included() -> None:
    evidence = Evidence(["from 10 to 20"])
    assert evidence.has_number(10, 11) and evidence.has_number(19, 20) and evidence.has_number(0, 100)
    assert not evidence.has_number(11, 19) and not evidence.has_number(21, 100) and not evidence.has_number(0, 9)


def test_only_what_was_told_before_is_seen() -> None:
    evidence = Evidence(["its own"], told("first 1", "second 2", "third 3"), 2)
    assert evidence.says("first") and evidence.says("second") and evidence.says("own")
    assert not evidence.says("third")
    assert list(evidence.numbers) == [1.0, 2.0]


def test_a_text_that_is_told_later_is_evidence_where_it_stands_in_the_history() -> None:
    assert Evidence(["third 3"], told("first 1", "third 3"), 1).says("third")


def test_of_evidence_beyond_what_is_searched_the_latest_is_kept_and_the_rest_known_to_be_cut() -> None:
    evidence = Evidence(["its own"], told("oldest " + "x" * 250_000 + " latest"), 1)
    assert evidence.cut
    assert evidence.says("own") and evidence.says("latest") and not evidence.says("oldest")


def test_evidence_of_one_long_text_is_its_end() -> None:
    evidence = Evidence(["oldest " + "x" * 250_000 + " latest 7"])
    assert evidence.cut and evidence.says("latest") and not evidence.says("oldest")
    assert list(evidence.numbers) == [7.0]


def test_evidence_within_the_limit_is_whole() -> None:
    assert not Evidence(["a"], told("b"), 1).cut
