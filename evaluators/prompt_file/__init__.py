"""An evaluator that somebody writes as a prompt: what to judge, by which criteria, with which labels."""

from evaluators.prompt_file.definition import PromptDefinition
from evaluators.prompt_file.evaluator import PromptEvaluator
from evaluators.prompt_file.settings import PromptSettings

__all__ = ["PromptDefinition", "PromptEvaluator", "PromptSettings"]
