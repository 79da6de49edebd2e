"""Every explanation draws itself on axes that are given."""

import numpy as np
import pytest

from tanager import InputError
from tanager.explain import CredibleInterval
from tests.explain.makers import fitted_model, training_data

pytest.importorskip("matplotlib", reason="the plot extra is not installed")


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def first(n_classes=2):
    X, _ = training_data(n_classes)
    return {name: column[:1] for name, column in X.items()}


def unknown():
    return {name: [None] for name in training_data(2)[0]}


def texts(ax):
    labels = [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts]
    return " ".join(text.get_text() for text in labels) + ax.get_xlabel()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_waterfall(ax, n_classes):
    found = fitted_model("factors", n_classes).explain(first(n_classes))
    assert found.plot(ax=ax) is ax
    assert "x0 = " in texts(ax)
    assert ("Log odds" if n_classes == 2 else "Log weight") in ax.get_xlabel()
    assert found.plot(0, found.classes[0], max_terms=2) is not ax
    ax.clear()
    found.plot(max_terms=2, ax=ax)
    assert "3 others" in texts(ax)


def test_bars(ax):
    model = fitted_model("nb")
    X, y = training_data(2)
    for found, words in (
        (model.next_question(unknown()), "Expected information gain"),
        (model.importance(), "Mutual information"),
        (model.importance(X, y), "Increase in log loss"),
        (model.edge_strengths(), "Conditional mutual information"),
        (model.typicality(X), "Percentile"),
        (model.credible_interval(first()), "Probability"),
    ):
        ax.clear()
        assert found.plot(ax=ax) is ax
        assert words in ax.get_xlabel()


def test_counterfactual(ax):
    found = fitted_model("nb").counterfactual(first())
    assert found.plot(ax) is ax
    assert "->" in texts(ax)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["factors", "nb"])
def test_curve(ax, kind, n_classes):
    found = fitted_model(kind, n_classes).effect("size")
    assert found.plot(ax) is ax
    assert found.plot(label=found.classes[-1]) is not ax


@pytest.mark.parametrize("n_classes", [2, 3])
def test_heat_map(ax, n_classes):
    found = fitted_model("factors", n_classes).effect("x0", "x1")
    assert found.plot(ax) is ax


def test_tornado(ax):
    found = fitted_model("tan").sensitivity(first())
    assert found.plot(ax) is ax
    assert "P(" in texts(ax)


def test_intervals_are_drawn_from_low_to_high(ax):
    found = CredibleInterval(
        classes=("no", "yes"),
        probabilities=np.array([[0.05, 0.95]]),
        low=np.array([[0.0, 0.4]]),
        high=np.array([[0.6, 0.94]]),  # quantiles may leave out the probability
        level=0.95,
        independent=np.array([False]),
    )
    found.plot(ax=ax)
    (lines,) = ax.containers[1].lines[2]
    drawn = [segment[:, 0].tolist() for segment in lines.get_segments()]
    np.testing.assert_allclose(drawn, [[0.0, 0.6], [0.4, 0.95]])


@pytest.mark.parametrize("names", [("size",), ("x0", "x1")])
def test_effect_of_either_class(names):
    found = fitted_model("factors").effect(*names)
    drawn = []
    for label in (None, *found.classes):
        ax = found.plot(label=label)
        if len(names) == 1:
            drawn.append(ax.patches[0].get_data().values)
            shown = found.classes[-1] if label is None else label
            assert ax.get_ylabel() == f"log odds of {shown}"
        else:
            drawn.append(ax.images[0].get_array())
    np.testing.assert_allclose(drawn[0], drawn[2])
    np.testing.assert_allclose(drawn[0], -drawn[1])
    assert np.abs(drawn[0]).max() > 0
    with pytest.raises(InputError, match="Unknown class 'nonsense'"):
        found.plot(label="nonsense")
