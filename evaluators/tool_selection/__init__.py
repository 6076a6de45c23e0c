"""Were the right tools chosen for this turn, or rightly none?"""

from evaluators.tool_selection.evaluator import ToolSelection, ToolSelectionSettings

__all__ = ["ToolSelection", "ToolSelectionSettings"]
