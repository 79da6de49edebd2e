"""Experiments of papers: what they measured, measured again, beside what they say."""

from __future__ import annotations

from tanager.experiments.cache import CellCache
from tanager.experiments.catalogue import Paper, experiments, find, paper, papers
from tanager.experiments.cell import Cell
from tanager.experiments.experiment import Experiment, Part
from tanager.experiments.results import Results
from tanager.experiments.runner import Outcome, run

__all__ = [
    "Cell",
    "CellCache",
    "Experiment",
    "Outcome",
    "Paper",
    "Part",
    "Results",
    "experiments",
    "find",
    "paper",
    "papers",
    "run",
]
