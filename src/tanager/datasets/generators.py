"""Data made from a definition: benchmark functions and the papers' synthetic data.

Random functions give the same rows for the same `random_state`: an integer, or a
`numpy.random.Generator` to sample from; None gives different samples.
"""

from tanager.datasets._benchmark_functions import corral, mofn, waveform
from tanager.datasets._missing_values import remove_values
from tanager.datasets._published_experiments import correct_structure, three_binary
from tanager.datasets._satisfiability import satisfiability

__all__ = [
    "corral",
    "correct_structure",
    "mofn",
    "remove_values",
    "satisfiability",
    "three_binary",
    "waveform",
]
