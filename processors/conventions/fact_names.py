"""The facts that evaluators need, by the names under which a transcript says that one is missing."""

from __future__ import annotations

USER_INPUT = "user_input"
SYSTEM_PROMPT = "system_prompt"
TOOLS = "tools"
SCHEMAS = "schemas"
TOOL_CALLS = "tool_calls"
ARGUMENTS = "arguments"
TOOL_RESULTS = "tool_results"
FINAL_ANSWER = "final_answer"
FACTS = (USER_INPUT, SYSTEM_PROMPT, TOOLS, SCHEMAS, TOOL_CALLS, ARGUMENTS, TOOL_RESULTS, FINAL_ANSWER)
