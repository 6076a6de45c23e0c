"""Trajectory quality: how well a run went its way, from what other evaluators and code say of it.

In go a run and the verdicts on its choices of tools and its efficiency, out comes their weighted mean with the coverage
of key actions.  It asks no judge, and a part of which nothing is known is left out, never taken for perfect.
"""

from evaluators.trajectory_quality.evaluator import TrajectoryQuality
from evaluators.trajectory_quality.settings import TrajectoryQualitySettings

__all__ = ["TrajectoryQuality", "TrajectoryQualitySettings"]
