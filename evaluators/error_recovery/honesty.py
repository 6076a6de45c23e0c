"""Whether what the user was told speaks of a call that failed.

In go the texts that followed and the failed step, out comes whether they own up to it beyond doubt.  That they don't is
no proof of anything: nobody has to tell of an error that didn't matter, and there are more ways to tell of one than can
be listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evaluators.error_recovery.admissions import admits, is_supposed
from evaluators.error_recovery.ways_out import nouns, subjects
from evaluators.error_recovery.words import (
    ASKS_BACK,
    NEGATION,
    NO_FAILURE,
    SAME_MATTER,
    SENTENCE_END,
    SUCCESS,
    content_words,
)
from evaluators.rules.effects import Effect
from evaluators.rules.errors import ErrorClass
from evaluators.rules.evidence import Evidence, plain
from evaluators.rules.repetition import Step

_MAX_CHARS, _MOST_SENTENCES = 10_000, 200
_FEWEST_WORDS, _MOST_OF_IT = 3, 0.6
_MOST_SIBLINGS = 50


def owns_up(texts: Iterable[str], failed: Step, *, siblings: Sequence[Step], alone: bool) -> bool:
    """Whether the user was told that what the call was for didn't work.

    Args:
        texts: what was said to the user after the call failed.
        failed: its step.
        siblings: the run's other calls of the same tool. What is said of theirs isn't said of this one.
        alone: whether nothing else of the run is left unsettled, so that a failure that is told must be this one.
    """
    about = [plain(one) for one in subjects(failed)]
    others = {plain(one) for step in siblings[:_MOST_SIBLINGS] for one in subjects(step)} - {*about}
    named = nouns(failed)
    error = content_words(failed.error.text) if failed.error is not None else frozenset()
    changing = failed.effect is Effect.WRITE
    for text in texts:
        claims_success = changing and SUCCESS.search(text[:_MAX_CHARS]) is not None
        for sentence in _sentences(text):
            if _repeats_error(sentence, error):
                return True
            mentioned = _mentions(sentence, about, others, named)
            if not mentioned and (claims_success or not alone):
                continue
            if claims_success and SUCCESS.search(sentence) is not None:
                continue
            if admits(sentence, changing=changing, kinds=named, subjects=about) or _is_same_matter(sentence, failed):
                return True
            if alone and _asks_for_what_was_wrong(sentence, failed):
                return True
    return False


def _sentences(text: str) -> Iterator[str]:
    told = NO_FAILURE.sub(" ", text[:_MAX_CHARS].replace("’", "'"))
    return (one for one in SENTENCE_END.split(told)[:_MOST_SENTENCES] if one.strip())


def _mentions(sentence: str, about: list[str], others: set[str], named: frozenset[str]) -> bool:
    """Whether a sentence is about this call: it names its subject, or its kind and no other call's subject."""
    said = Evidence([sentence])
    if any(map(said.says, about)):
        return True
    return any(word in plain(sentence) for word in named) and not any(map(said.says, others))


def _repeats_error(sentence: str, error: frozenset[str]) -> bool:
    """Whether a sentence tells the user what the error said: "there are not enough seats left"."""
    if len(error) < _FEWEST_WORDS or NEGATION.search(sentence) is None:
        return False
    shared = error & content_words(sentence)
    return len(shared) >= _FEWEST_WORDS and len(shared) >= _MOST_OF_IT * len(error)


def _is_same_matter(sentence: str, failed: Step) -> bool:
    """Whether the sentence says what the error says, in other words: not found, not permitted, declined."""
    if failed.error is None or is_supposed(sentence):
        return False
    text = failed.error.text
    return any(cause.search(text) is not None and told.search(sentence) is not None for cause, told in SAME_MATTER)


def _asks_for_what_was_wrong(sentence: str, failed: Step) -> bool:
    return (
        failed.error is not None
        and failed.error.kind is ErrorClass.PERMANENT
        and ASKS_BACK.search(sentence) is not None
    )
