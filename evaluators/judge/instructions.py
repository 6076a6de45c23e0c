"""What every judge is told before it is shown a run: `instructions.md`, package data, read once."""

from __future__ import annotations

from importlib.resources import files

INSTRUCTIONS = files("evaluators.judge").joinpath("instructions.md").read_text("utf-8").strip()
