"""What a step is worth that repeats an earlier one: same tool, same arguments.

In go the step, its earlier twins and what could have changed in between, out comes a label.  Waste needs everything
known: both outcomes, and that nothing came in between which could have made a difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evaluators.plans.kept import keeps_own_plan
from evaluators.rules.effects import Effect
from evaluators.rules.errors import ErrorClass
from evaluators.rules.repetition import Step, pause_s, user_spoke_between
from evaluators.step_efficiency.changes import Changes
from evaluators.step_efficiency.polling import advances, polls
from evaluators.step_efficiency.worth import Label, StepType

_FREE_RETRIES = 2
_WAITED_S = 1.0
_STALE_AFTER_S = 300.0
_MAX_LOOKED_AT = 50
_SHORTEST_ANSWER = 40


def of_repeat(step: Step, twins: list[Step], changes: Changes, user_inputs: Sequence[str], *, waits: bool) -> Label:
    """The label of a step whose call was made before.

    Args:
        step: the repeating step.
        twins: the earlier steps with the same call, oldest first; at least one.
        changes: where in the run something may have changed.
        user_inputs: what the user said, one per message.
        waits: whether the same call later gave another answer, so that this one was waiting for it.
    """
    last = twins[-1]
    if step.effect is Effect.WAIT:
        return Label(StepType.HELPFUL, "It only waits.")
    if last.succeeded is None:
        doubtful = step.effect is Effect.READ and not changes.between(last, step)
        return Label(StepType.HELPFUL, "What came of the same call before isn't known.", doubtful=doubtful)
    if last.succeeded is False:
        return _of_retry(step, twins, changes)
    if step.effect is Effect.WRITE:
        return _of_repeated_write(step, last, changes, user_inputs)
    label = _of_repeated_read(step, twins, changes, user_inputs)
    if label.type in (StepType.REDUNDANT, StepType.DEAD_LOOP) and (waits or polls(step)):
        return Label(StepType.HELPFUL, "It waited for an answer that could change.", certain=True)
    if label.type in (StepType.REDUNDANT, StepType.DEAD_LOOP) and advances(step):
        return Label(StepType.HELPFUL, "Each of these calls goes on where the one before ended.")
    return label


def _of_retry(step: Step, twins: list[Step], changes: Changes) -> Label:
    last = twins[-1]
    failure = last.error.kind if last.error is not None else ErrorClass.OPAQUE
    if step.succeeded:
        return Label(StepType.JUSTIFIED_RETRY, "The retry succeeded.", certain=True)
    if changes.between(last, step):
        return Label(StepType.JUSTIFIED_RETRY, "Something was done in between that could have helped.", certain=True)
    if user_spoke_between(last, step):
        return Label(StepType.JUSTIFIED_RETRY, "The user had spoken in between.", certain=True)
    retries = 0
    for twin in reversed(twins):
        if retries >= _MAX_LOOKED_AT or twin.succeeded is not False or changes.between(twin, step):
            break
        retries += 1
    if failure is ErrorClass.PERMANENT:
        if retries > _FREE_RETRIES:
            return Label(StepType.DEAD_LOOP, f"The same call had failed {retries} times in the same way.", certain=True)
        return Label(
            StepType.UNJUSTIFIED_RETRY,
            "The same call had failed with an error that repeating can't cure.",
            certain=True,
        )
    waited_s = pause_s(last, step)
    if retries <= _FREE_RETRIES or (waited_s is not None and waited_s >= _WAITED_S):
        return Label(StepType.JUSTIFIED_RETRY, "The failure could pass by itself.", certain=True)
    if failure is ErrorClass.TRANSIENT and waited_s is None:
        return Label(StepType.JUSTIFIED_RETRY, "The failure could pass by itself.")
    how = "unchanged" if waited_s is None else "at once"
    return Label(
        StepType.UNJUSTIFIED_RETRY, f"The same call had failed {retries} times, and was repeated {how}.", certain=True
    )


def _of_repeated_write(step: Step, last: Step, changes: Changes, user_inputs: Sequence[str]) -> Label:
    if not step.succeeded:
        return Label(StepType.HELPFUL, "Whether the second one took effect isn't known.")
    if changes.between(last, step) or user_spoke_between(last, step):
        return Label(StepType.HELPFUL, "Something had happened since the same call before.")
    if keeps_own_plan(step.call):
        return Label(StepType.REDUNDANT, "The plan was written down again without a change.", certain=True)
    if step.outcome != last.outcome and polls(last):
        return Label(StepType.HELPFUL, "The same call before had said that it was still under way.")
    if any(_SEVERAL.search(text[:20_000]) for text in user_inputs):
        return Label(StepType.HELPFUL, "The user may have asked for several.")
    return Label(StepType.HARMFUL, "The same change had already been made.", certain=True)


def _of_repeated_read(step: Step, twins: list[Step], changes: Changes, user_inputs: Sequence[str]) -> Label:
    last = twins[-1]
    if step.outcome is None or last.outcome is None:
        unseen = step.effect is not Effect.READ or changes.unseen(last, step)
        return Label(StepType.HELPFUL, "Whether the answer was the same isn't known.", doubtful=not unseen)
    if step.outcome != last.outcome:
        return Label(StepType.HELPFUL, "The answer had changed since the same call before.", certain=True)
    if changes.unseen(last, step):
        return Label(StepType.HELPFUL, "Something was changed since the same call before.", certain=True)
    if step.agent != last.agent and not last.call.earlier:
        return Label(StepType.HELPFUL, "Another agent had made the same call.")
    if user_spoke_between(last, step) and _asked_again(step, user_inputs):
        return Label(StepType.HELPFUL, "The user asked to look again.", certain=True)
    if any(_LOOK_TWICE.search(text[:20_000]) for text in user_inputs):
        return Label(StepType.HELPFUL, "The user asked to look more than once.")
    if _BY_CHANCE.search(step.call.name) is not None:
        return Label(StepType.HELPFUL, "Its answer is left to chance.", certain=True)
    waited_s = pause_s(last, step)
    if waited_s is not None and waited_s >= _STALE_AFTER_S:
        return Label(StepType.HELPFUL, "The same call before was long ago.", certain=True)
    if step.effect is Effect.UNKNOWN:
        # it may do something that its answer doesn't tell, so only a stretch of nothing else is a loop
        same = _same_in_a_row(step, twins)
        if same < _FREE_RETRIES or not _tells_something(step):
            return Label(StepType.HELPFUL, "Whether the tool changes something isn't known.")
    else:
        same = _same_since_a_change(step, twins, changes)
    if same > _FREE_RETRIES:
        return Label(StepType.DEAD_LOOP, f"The same call had given the same answer {same} times.", certain=True)
    return Label(StepType.REDUNDANT, "The same call had already given the same answer.", certain=True)


def _same_since_a_change(step: Step, twins: list[Step], changes: Changes) -> int:
    """How often the same call had given the same answer since anything may have changed; counted up to 50."""
    same = 0
    for twin in reversed(twins[-_MAX_LOOKED_AT:]):
        if twin.outcome != step.outcome or changes.unseen(twin, step):
            break
        same += 1
    return same


def _same_in_a_row(step: Step, twins: list[Step]) -> int:
    """How often the same call had given the same answer with no other call in between; counted up to 50."""
    same = 0
    for twin in reversed(twins[-_MAX_LOOKED_AT:]):
        if twin.outcome != step.outcome or twin.index != step.index - same - 1:
            break
        same += 1
    return same


def _asked_again(step: Step, user_inputs: Sequence[str]) -> bool:
    at = step.user_turn
    if at is None or at >= len(user_inputs):
        return True
    said = user_inputs[at][:20_000]
    return _AGAIN.search(said) is not None or said.strip().casefold() in _folded(user_inputs[:at])


def _folded(texts: Sequence[str]) -> list[str]:
    return [text[:20_000].strip().casefold() for text in texts[-_MAX_LOOKED_AT:]]


def _tells_something(step: Step) -> bool:
    """Whether the answer is more than an acknowledgement."""
    content = step.call.result.content if step.call.result is not None else None
    return content is not None and len(content) >= _SHORTEST_ANSWER


_SEVERAL = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twice|thrice|both|each|every|another|again|several|multiple|"
    r"more|pair|couple|us|we|until|keep|repeat\w*|(?:and|for) (?:me|my)|me and|"
    r"zwei\w*|zwo|drei\w*|beide|jeweils|noch|uns|wir|deux|trois|chaque|encore|nous|dos|tres|cada|otr[oa]|nosotros|"
    r"dois|duas|outr[oa]|altr[oa]|два|две|три|ещё|еще|нам|нас|"
    r"[2-9]|1\d)\b(?![-/:.,]\d)|\bx ?\d|×|"
    r"再|又|两|兩|三|二|几|每|多|都|我们|つ|回|枚|もう|둘|두 |세 |또|[2-9][個个件张張]",
    re.IGNORECASE,
)
_LOOK_TWICE = re.compile(
    r"\b(?:check|look|test|run|measure|poll|read|fetch)\w*\b[^.;!?\n]{0,40}"
    r"\b(?:twice|thrice|(?:two|three|several|\d+) times|every (?:\w+ )?(?:second|minute|hour)s?|in a moment)|"
    r"keep (?:checking|looking|watching)|两次|(?:看|查)[^。]{0,8}遍"
    r"|\b(?:monitor|watch(?:ing)? (?:for|out|over)|observ|surveil|überwach|beobacht|surveill|vigil)\w*|监控|监视|监测"
    r"|观察|盯着|監視|모니터"
    r"|\b(?:non-?)?determinis\w*|\bflak(?:y|iness)\b|\breproducib\w*|\bidempoten\w*|\bconsisten(?:t|cy)\b|是否(?:稳定"
    r"|一致)",
    re.IGNORECASE,
)
_BY_CHANCE = re.compile(
    r"random|(?:^|_)(?:roll|flip|toss|dice|coin|shuffle|draw|sample|guess|spin)(?:_|$)", re.IGNORECASE
)
_AGAIN = re.compile(
    r"\bagain\b|re-?check|refresh|re-?load|re-?try|right now|latest|current|\bstill\b|double.?check|verify|once more|"
    r"any (?:change|news|update)|meanwhile|by now|(?:and|about|is it|are they|as of|how is .{1,40}) now\b|\bnow ?[?？]|"
    r"再|重新|刷新|现在|現在|最新|还是|确认|今はどう|いまは|もう一度|지금|다시|noch ?mal|erneut|\bjetzt\b|inzwischen|"
    r"mittlerweile|encore|à nouveau|maintenant|otra vez|de nuevo|\bahora\b|\bagora\b|\badesso\b|сейчас|снова",
    re.IGNORECASE,
)
