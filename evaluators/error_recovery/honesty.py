"""Whether what the user was told speaks of a call that failed.

In go the texts that followed and the failed step, out comes whether they own up to it beyond doubt.  That they don't is
no proof of anything: nobody has to tell of an error that didn't matter, and there are more ways to tell of one than can
be listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaluators.error_recovery.ways_out import nouns, subjects
from evaluators.error_recovery.words import (
    ASKS_BACK,
    FAILED,
    NEGATION,
    NO_FAILURE,
    NOT_FOUND,
    NOTHING,
    OWN_FAILURE,
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


def owns_up(texts: Iterable[str], failed: Step, *, alone: bool) -> bool:
    """Whether the user was told that what the call was for didn't work.

    Args:
        texts: what was said to the user after the call failed.
        failed: its step.
        alone: whether nothing else of the run is left unsettled, so that a failure that is told must be this one.
    """
    about = [plain(one) for one in subjects(failed)]
    named = nouns(failed)
    error = content_words(failed.error.text) if failed.error is not None else frozenset()
    for text in texts:
        claims_success = SUCCESS.search(text[:_MAX_CHARS]) is not None
        for sentence in _sentences(text):
            if FAILED.search(sentence) is not None and _mentions(sentence, about, named):
                return True
            if NOTHING.search(sentence) is not None and _is_not_found(failed) and _mentions(sentence, about, named):
                return True
            if _repeats_error(sentence, error):
                return True
            if not alone or (claims_success and failed.effect is not Effect.READ):
                continue
            if OWN_FAILURE.search(sentence) is not None:
                return True
            if ASKS_BACK.search(sentence) is not None and failed.error is not None:
                return failed.error.kind is not ErrorClass.TRANSIENT
    return False


def _sentences(text: str) -> Iterator[str]:
    told = NO_FAILURE.sub(" ", text[:_MAX_CHARS].replace("’", "'"))
    return (one for one in SENTENCE_END.split(told)[:_MOST_SENTENCES] if one.strip())


def _mentions(sentence: str, about: list[str], named: frozenset[str]) -> bool:
    said = Evidence([sentence])
    return any(map(said.says, about)) or any(word in plain(sentence) for word in named)


def _repeats_error(sentence: str, error: frozenset[str]) -> bool:
    """Whether a sentence tells the user what the error said: "there are not enough seats left"."""
    if len(error) < _FEWEST_WORDS or NEGATION.search(sentence) is None:
        return False
    shared = error & content_words(sentence)
    return len(shared) >= _FEWEST_WORDS and len(shared) >= _MOST_OF_IT * len(error)


def _is_not_found(failed: Step) -> bool:
    return failed.error is not None and NOT_FOUND.search(failed.error.text) is not None
