"""How long a request to one endpoint may be: as it is configured, until the endpoint says that it reads less.

In: requests that were too long, with what the endpoint said of their length.  Out: the tokens that the next request may
have by our own estimate.  It only ever falls; a restart forgets it.
"""

from __future__ import annotations

_SHORTEST = 1_500
_LESS_BLINDLY = 0.7
_FOR_THE_ANSWER = 0.2


class ContextLimit:
    """The longest request to an endpoint, in estimated tokens."""

    def __init__(self, configured: int) -> None:
        self._configured = configured
        self.tokens = configured

    def lower(self, estimated: int, window_tokens: int | None, counted_tokens: int | None) -> bool:
        """Takes note of a request that was too long.

        Args:
            estimated: its tokens by our own estimate.
            window_tokens: the endpoint's whole context, if it said so; the answer has to fit in there as well.
            counted_tokens: what the endpoint counted, if it said so.

        Returns:
            Whether a shorter request is worth a try.
        """
        lowered = int(estimated * _LESS_BLINDLY)
        if window_tokens is not None:
            per_estimated = max(1.0, counted_tokens / estimated) if counted_tokens else 1.0
            lowered = min(lowered, int(window_tokens * (1 - _FOR_THE_ANSWER) / per_estimated))
        if lowered < _SHORTEST:
            return False
        self.tokens = min(self.tokens, lowered)
        return True

    def reason(self) -> str:
        """Why a run that can't be made to fit wasn't sent."""
        if self.tokens < self._configured:
            return (
                f"the run doesn't fit into {self.tokens} tokens even when cut, and the endpoint reads no more; lower "
                f"steps_per_request, or use a model with a longer context"
            )
        return (
            f"the run doesn't fit into {self.tokens} tokens even when cut; raise max_prompt_tokens if the model can "
            f"read more, or lower steps_per_request"
        )
