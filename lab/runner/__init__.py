"""Experiments of papers and studies: what is measured, kept and shown."""

from __future__ import annotations

from lab.runner.cache import CellCache
from lab.runner.catalogue import Paper, experiments, find, paper, papers, studies
from lab.runner.cell import Cell
from lab.runner.experiment import Experiment, Part
from lab.runner.pool import Outcome, run
from lab.runner.results import Results

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
    "studies",
]
