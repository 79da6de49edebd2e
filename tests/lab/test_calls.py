"""Every row of every table of a paper can be made by one call."""

from __future__ import annotations

import pytest

from lab.measurements.mdl_encoder_variants import (
    ClassUnitsEncoder,
    EntropyUnitEncoder,
)
from lab.measurements.search_interpretations import VARIANTS
from lab.runner.catalogue import experiments, find
from lab.runner.classifier_calls import (
    OF_THE_LAB,
    call_text,
    calls,
    calls_text,
    split_variant,
)
from tanager import BayesNetClassifier, TableEncoder, names
from tanager.registry import PAPERS

OF_PAPERS = [one for one in experiments().values() if one.paper in PAPERS]


@pytest.mark.parametrize("experiment", OF_PAPERS, ids=lambda one: one.full_name)
def test_calls_make_classifiers(experiment):
    scope = {
        "BayesNetClassifier": BayesNetClassifier,
        "ClassUnitsEncoder": ClassUnitsEncoder,
        "EntropyUnitEncoder": EntropyUnitEncoder,
        "TableEncoder": TableEncoder,
    }
    found = calls(experiment)
    for name, paper, arguments in found:
        made = eval(call_text(repr(name), paper, arguments), scope)
        assert made.get_params()
    measured = {
        split_variant(str(cell.parameters["method"]))
        for cell in experiment.cells()
        if "method" in cell.parameters and cell.measurement != "setting_errors"
    }
    made = {(name, end) for name, _, given in found for end in ((), given[-1:])}
    assert {one for one in measured if not one[0].endswith(OF_THE_LAB)} <= made


@pytest.mark.parametrize("experiment", OF_PAPERS, ids=lambda one: one.full_name)
def test_only_variants_of_the_lab_have_no_call(experiment):
    found = [name for name, *_ in calls(experiment)]
    for cell in experiment.cells():
        structure = cell.parameters.get("structure")
        if structure is not None and structure not in VARIANTS:
            assert any(name.startswith(f"{structure}-") for name in found)


def test_rows_of_table_1_of_su2008_are_the_methods_of_the_paper():
    (experiment,) = find(["su2008/table1"])
    assert {name for name, *_ in calls(experiment)} == set(names("su2008"))
    assert calls_text(experiment) == (
        '`BayesNetClassifier.from_name(NAME, paper="su2008")` with NAME one of NB+DFE, '
        "NB+FE, NB+ELR, NB+Ada, HGC+FE, HGC+DFE"
    )


def test_an_interpretation_is_in_the_call():
    (experiment,) = find(["greiner2005/table2-search"])
    assert (
        '`BayesNetClassifier.from_name("GBN+ELR", paper="greiner2005", '
        "encoder=ClassUnitsEncoder(), structure__threshold=0.05, "
        "parameters__max_iter=10)`"
    ) in calls_text(experiment)


def test_studies_have_no_calls():
    (experiment,) = find(["residual/bins"])
    assert calls(experiment) == []
