"""Was the tool called with the right arguments?"""

from evaluators.tool_invocation.evaluator import ToolInvocation, ToolInvocationSettings

__all__ = ["ToolInvocation", "ToolInvocationSettings"]
