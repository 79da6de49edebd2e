import numpy as np
import pytest

pytest.importorskip(
    "lab.studies.residual", reason="a source distribution has no experiments"
)

from lab.studies.parameters.results import Results
from lab.studies.residual import bins, images, tables
from lab.studies.residual.measuring import measured


def test_methods_stand_for_classifiers():
    assert images.classifier("TAN-RES-CL").structure.stages == 8
    assert images.classifier("TAN-RES-CL, 1 stage").structure.stages == 1
    structures = [bins.classifier(method).structure for method in bins.METHODS]
    parents = [structure.get_params().get("k") for structure in structures]
    assert parents == [None, 1, None, 1, 2]


def test_what_is_measured_goes_into_a_table(tmp_path):
    X = np.array([["a", "u"], ["b", "v"]] * 20, dtype=object)
    y = np.array([0, 1] * 20)
    numbers = measured(lambda: images.classifier("NB-CL"), [(X, y, X, y)] * 2)
    assert numbers["error"] == numbers["error_sd"] == numbers["warnings"] == 0
    results = Results("some", images.KEYS, 0, tmp_path)
    results.add(("a set", "NB-CL"), numbers | {"log_loss": 0.25, "seconds": 1.5})
    assert "| a set | NB-CL | 0.00 | 0.2500 | 1.5 |" in tables.table(results)
