"""Tool response handling: what did the model make of what its tools returned?

In goes the turn that saw results first, with everything before it and the turns that follow, out comes whether each
result was told truly, its errors were handled and nothing of it was leaked.  Never judges whether the tool was the
right one or its arguments were.
"""

from evaluators.tool_response_handling.evaluator import ToolResponseHandling
from evaluators.tool_response_handling.settings import ToolResponseHandlingSettings

__all__ = ["ToolResponseHandling", "ToolResponseHandlingSettings"]
