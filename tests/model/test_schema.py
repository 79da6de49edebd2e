from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import InputError, Schema, Structure, TableSizeError, Variable
from tanager.model import FamilyLayout, Parameters
from tanager.model.schema import is_missing
from tanager.model.structure import find_cycle
from tanager.utils.threads import map_threads, n_threads, row_blocks


def test_codes_of_bins_and_states():
    age = Variable.binned("age", [30.0, 50.0])
    assert [age.code_of(v) for v in (30, 30.1, 1e9, -5, None)] == [0, 1, 2, 0, 3]
    assert age.code_of("(30, 50]") == 1
    assert age.code_of("a lot") == age.n_states
    sky = Variable("sky", ("blue", 1, True + 1))
    assert sky.code_of("blue") == 0
    assert sky.code_of(1.0) == 1
    assert sky.code_of(np.int8(2)) == 2
    assert sky.code_of(["unhashable"]) == 3


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.nan, np.float32("nan"), np.datetime64("NaT")]
)
def test_kinds_of_missing(value):
    assert is_missing(value)


def test_pandas_missing_is_missing():
    pandas = pytest.importorskip("pandas")
    assert is_missing(pandas.NA)
    assert is_missing(pandas.NaT)
    assert not is_missing("NA")


def test_infinite_numbers_are_refused():
    with pytest.raises(InputError, match="infinite"):
        Variable.binned("age", [1.0]).code_of(float("inf"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Variable("x", ()), "has no states"),
        (lambda: Variable("", (1,)), "non-empty string"),
        (lambda: Variable("x", ("a", "a")), "twice"),
        (lambda: Variable("x", (None,)), "not a string"),
        (lambda: Variable("x", ("a", "b"), cuts=(1.0, 2.0)), "expected 1 cuts"),
        (lambda: Variable("x", ("a", "b", "c"), cuts=(2.0, 1.0)), "increasing"),
        (lambda: Variable("x", ("a", "b"), cuts=(np.inf,)), "finite"),
        (lambda: Schema((Variable("x", (1,)),) * 2), "called 'x'"),
        (lambda: Schema((Variable("x", (1,)),), target=3), "number 3"),
        (lambda: Schema((Variable("x", (1,)),)).index("y"), "Unknown variable 'y'"),
        (lambda: Structure(((1,), (0,))), "cycle: 0 -> 1 -> 0"),
        (lambda: Structure(((0,),)), "itself"),
        (lambda: Structure(((4,),)), "outside"),
        (lambda: Structure(((),), target=2), "target 2"),
    ],
)
def test_impossible_values_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@given(st.lists(st.floats(-1e6, 1e6), unique=True, max_size=8))
def test_interval_labels_are_all_different(cuts):
    labels = Variable.binned("x", sorted(cuts)).states
    assert len(labels) == len(set(labels)) == len(cuts) + 1


def test_cycles_are_named_in_arc_direction():
    cycle = find_cycle([(2,), (0,), (1,), ()])
    assert cycle[0] == cycle[-1]
    assert all((a, b) in {(2, 0), (0, 1), (1, 2)} for a, b in pairwise(cycle))
    assert find_cycle([(), (0,), (0, 1)]) == []


def test_structure_predicates():
    general = Structure(((1,), (), (0, 1)), target=2)
    assert not general.is_class_rooted
    assert not general.is_tree
    assert general.topological_order == (1, 0, 2)
    bayes = Structure.class_rooted([(), (), ()], 2)
    assert bayes.is_class_rooted
    assert bayes.is_tree


def test_sizes_are_estimated_before_anything_is_allocated():
    wide = Schema(tuple(Variable(f"x{i}", tuple(range(3000))) for i in range(4)), 3)
    structure = Structure.class_rooted([(), (0,), (0, 1), ()], 3)
    with pytest.raises(TableSizeError, match=r"family of 'x2'.*fewer parents"):
        FamilyLayout.of_structure(wide, structure)


def test_parameters_check_their_length():
    layout = FamilyLayout.of_families((2,), ((0,),), None)
    with pytest.raises(InputError, match="Expected 2"):
        Parameters(layout, np.zeros(3))
    assert not Parameters(layout, np.zeros(2)).log_theta.flags.writeable


def test_threads_keep_the_order_of_the_items():
    assert map_threads(lambda x: x * x, range(50), 4) == [x * x for x in range(50)]
    assert n_threads(-1) >= 1
    assert row_blocks(0) == []
    with pytest.raises(InputError, match="n_jobs"):
        n_threads(0)


def test_threads_pass_errors_on():
    def fail(item):
        raise InputError(f"item {item}")

    with pytest.raises(InputError, match="item 0"):
        map_threads(fail, range(3), 2)
