import numpy as np
import pytest

from lab.measurements.coded import coded
from tanager.datasets import load

comparison = pytest.importorskip(
    "lab.studies.structure.comparison",
    reason="a source distribution has no experiments",
)


def test_all_parameters_have_the_same_structure():
    data = load("sklearn/iris")
    rows = np.random.default_rng(0).permutation(data.n_rows)
    part = coded(data, rows[:100], rows[100:])
    numbers = comparison.evaluated("TAN-CR", ["ML", "CL"], [part])
    assert numbers["ML"]["arcs"] == numbers["CL"]["arcs"]
    assert numbers["ML"]["rows"] == 50
    assert numbers["CL"]["log_loss"] < numbers["ML"]["log_loss"]
