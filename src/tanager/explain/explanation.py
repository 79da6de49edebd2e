"""`Explanation`: what every feature or factor adds to the log odds of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tanager.explain.feature_arguments import check_not_empty
from tanager.explain.odds_conversion import (
    check_sample,
    class_position,
    class_sign,
    probabilities_of,
)
from tanager.explain.terms import terms_of
from tanager.model.schema import Schema, State
from tanager.network import AnyNetwork
from tanager.plots.bars import waterfall_picture
from tanager.plots.picture import Picture, SvgMixin
from tanager.types import AnyArray, CodeArray, FloatArray, IndexArray
from tanager.utils.data_frame import SHOWN_ROWS, FrameMixin, columns_text
from tanager.utils.text import pluralise
from tanager.utils.validation import check_choice

GROUPINGS = ("feature", "factor")
"""Ways to group the contributions."""

PRINTED_TERMS = 3
"""Terms of each sample in a printed explanation."""

NOT_OBSERVED = "not observed"
"""The label of a value that is not observed."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(SvgMixin, FrameMixin):
    """Additive contributions to the log odds of samples.

    Parameters
    ----------
    schema : Schema
        The variables of the model, the class last.
    codes : ndarray of unsigned int, shape (n_samples, n_features)
        The samples.
    terms : tuple of tuples of str
        Names of the features of every term. That of the class, if it has parents, has
        the name of the class first.
    prior : ndarray of float64, shape (n_outputs,)
        Log odds without any feature.
    values : ndarray of float64, shape (n_samples, n_terms, n_outputs)
        The contributions: ``prior + values.sum(axis=1)`` are the log odds of the model.

    Notes
    -----
    Of two classes there is one output, the log odds of the second class. Of K > 2
    classes there is one for every class, its log weight

        a_k = log P(k | x) - (1 / K) sum_j log P(j | x)

    so that ``a_k - a_j`` are the log odds of class k against class j, and the
    probabilities are the softmax of the outputs. Log odds of a class against all others
    together would not be a sum of terms.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", "grey", "grey", "blue"], "wind": [3.0, 9.0, 8.5, 2.0]}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe")
    >>> found = model.fit(X, ["dry", "wet", "wet", "dry"]).explain(X)
    >>> found.terms, found.values[0].round(3).tolist()
    ((('sky',), ('wind',)), [[-1.099], [-1.099]])
    >>> found.log_odds[0].round(3), found.probabilities[0].round(3)
    (array([-2.197]), array([0.9, 0.1]))
    >>> found
    <Explanation: 4 samples, 2 terms>
    sample  prediction  probability  strongest terms
         0  dry                 0.9  sky = blue +1.10, wind = (-inf, 5.75] +1.10
         1  wet                 0.9  sky = grey +1.10, wind = (5.75, inf) +1.10
         2  wet                 0.9  sky = grey +1.10, wind = (5.75, inf) +1.10
         3  dry                 0.9  sky = blue +1.10, wind = (-inf, 5.75] +1.10
    """

    schema: Schema
    codes: CodeArray
    terms: tuple[tuple[str, ...], ...]
    prior: FloatArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        n_terms = pluralise(len(self.terms), "term")
        head = f"<Explanation: {pluralise(len(self), 'sample')}, {n_terms}>"
        if not len(self):
            return head
        shown = range(min(len(self), SHOWN_ROWS))
        labels = [self._most_probable(sample) for sample in shown]
        columns: dict[str, list[Any]] = {
            "sample": list(shown),
            "prediction": list(map(str, labels)),
            "probability": [float(self.probabilities[k].max()) for k in shown],
            "strongest terms": list(map(self._strongest_text, shown, labels)),
        }
        return f"{head}\n{columns_text(columns, len(self), width=None)}"

    def _most_probable(self, sample: int) -> State:
        """The class that a sample is predicted to have."""
        p = self.probabilities[check_sample(sample, len(self))]
        return self.classes[int(p.argmax())]

    def _strongest_text(self, sample: int, label: object) -> str:
        """The terms with the largest contributions to a class."""
        _, values = self.of_class(label)
        strongest = [t for t in self.strongest(sample, label) if values[sample, t]]
        return ", ".join(
            f"{self.label(sample, t)} {values[sample, t]:+.2f}"
            for t in strongest[:PRINTED_TERMS]
        )

    @property
    def classes(self) -> tuple[State, ...]:
        """The classes."""
        return self.schema.target_variable.states

    @property
    def log_odds(self) -> FloatArray:
        """Log odds or log weights of the model, shape (n_samples, n_outputs)."""
        total: FloatArray = self.prior + self.values.sum(axis=1)
        return total

    @property
    def probabilities(self) -> FloatArray:
        """Probabilities of all classes, shape (n_samples, n_classes)."""
        return probabilities_of(self.log_odds, len(self.classes))

    @property
    def evidence_for(self) -> FloatArray:
        """Sum of the positive contributions, shape (n_samples, n_outputs)."""
        total: FloatArray = np.maximum(self.values, 0.0).sum(axis=1)
        return total

    @property
    def evidence_against(self) -> FloatArray:
        """Sum of the negative contributions, shape (n_samples, n_outputs)."""
        total: FloatArray = np.minimum(self.values, 0.0).sum(axis=1)
        return total

    def of_class(self, label: object = None) -> tuple[float, FloatArray]:
        """The prior and the contributions, (n_samples, n_terms), for one class.

        Of two classes these are the log odds of `label` against the other one, by
        default of the second; of more its log weights, by default of the first.
        """
        if len(self.classes) == 2:
            sign = class_sign(self.classes, label)
            return sign * float(self.prior[0]), sign * self.values[..., 0]
        k = 0 if label is None else class_position(self.classes, label)
        return float(self.prior[k]), self.values[..., k]

    def label(self, sample: int, term: int) -> str:
        """A term with the values of a sample, such as ``age = (30, 50]``."""
        own = self.schema.target_variable.name
        names = [name for name in self.terms[term] if name != own]
        states = (self._state_texts(name, sample) for name in names)
        pairs = zip(names, states, strict=True)
        values = ", ".join(f"{name} = {state}" for name, state in pairs)
        return values if len(names) == len(self.terms[term]) else f"{own} | {values}"

    def _state_texts(self, name: str, samples: Any) -> Any:
        """The states of a feature as text, for one sample or several."""
        j = self.schema.index(name)
        states = [*map(str, self.schema[j].states), NOT_OBSERVED]
        return np.array(states, dtype=object)[self.codes[samples, j]]

    def _value_texts(self, term: int) -> AnyArray:
        """The values of the features of a term, for all samples."""
        features = [n for n in self.terms[term] if n != self.schema.names[-1]]
        first, *others = (self._state_texts(name, slice(None)) for name in features)
        for texts in others:
            first = first + ", " + texts
        return np.asarray(first)

    def strongest(self, sample: int, label: object = None) -> IndexArray:
        """Terms by the size of their contribution to a class, the largest first.

        Those of columns that the model leaves out are not among them.
        """
        _, values = self.of_class(label)
        sizes = np.abs(values[check_sample(sample, len(self))])
        kept = [t for t, term in enumerate(self.terms) if not self._is_left_out(term)]
        order: IndexArray = np.array(kept, dtype=np.intp)
        return order[np.argsort(-sizes[order], kind="stable")]

    def _is_left_out(self, term: tuple[str, ...]) -> bool:
        """Whether the model leaves all columns of a term out."""
        schema = self.schema
        return all(schema[schema.index(name)].is_left_out for name in term)

    def columns(self) -> dict[str, list[Any]]:
        """List the contributions by column, with a row for every sample and term.

        The columns are `sample`, `class` if there are more than two, `term`, `value`
        and `contribution`. The first term of every sample is the prior.
        """
        n_samples, n_outputs = len(self), len(self.prior)
        names = ["prior", *(" x ".join(term) for term in self.terms)]
        labels = self.classes if n_outputs > 1 else self.classes[1:]
        texts = np.full((n_samples, n_outputs, len(names)), "", dtype=object)
        for t in range(len(self.terms)):
            texts[:, :, 1 + t] = self._value_texts(t)[:, None]
        numbers = np.empty(texts.shape)
        numbers[..., 0] = self.prior
        numbers[..., 1:] = self.values.transpose(0, 2, 1)
        size = n_outputs * len(names)
        found: dict[str, list[Any]] = {
            "sample": np.repeat(np.arange(n_samples), size).tolist(),
            "class": [label for label in labels for _ in names] * n_samples,
            "term": names * (n_samples * n_outputs),
            "value": texts.ravel().tolist(),
            "contribution": numbers.ravel().tolist(),
        }
        if n_outputs == 1:
            del found["class"]
        return found

    def picture(
        self, sample: int = 0, label: object = None, *, max_terms: int = 12
    ) -> Picture:
        """The contributions of one sample as a waterfall.

        Parameters
        ----------
        sample : int, default=0
            Position of the sample.
        label : class or None, default=None
            As in `of_class`; the most probable class by default.
        max_terms : int, default=12
            The strongest terms have a bar each, and the others one together.
        """
        if label is None:
            label = self._most_probable(sample)
        start, values = self.of_class(label)
        order = self.strongest(sample, label)
        shown, rest = order[:max_terms], order[max_terms:]
        labels = [self.label(sample, int(t)) for t in shown]
        heights = values[sample, shown].tolist()
        if len(rest):
            labels.append(pluralise(len(rest), "other"))
            heights.append(float(values[sample, rest].sum()))
        kind = "Log odds" if len(self.classes) == 2 else "Log weight"
        name = self.schema.target_variable.name
        title = f"{name} = {label}"
        return waterfall_picture(labels, heights, start=start, title=title, xlabel=kind)

    def plot(
        self, sample: int = 0, label: object = None, *, ax: Any = None, **options: Any
    ) -> Any:
        """Draw the `picture` of one sample with matplotlib."""
        return self.picture(sample, label, **options).plot(ax)


def explain_samples(
    network: AnyNetwork,
    codes: CodeArray,
    *,
    by: str = "feature",
    n_jobs: int | None = None,
) -> Explanation:
    """Explain the log odds of samples by exact additive contributions.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; the class is its last variable.
    codes : ndarray of unsigned int, shape (n_samples, n_features), Fortran order
        The number of states of a feature means that it is not observed.
    by : {"feature", "factor"}, default="feature"
        A term for every feature, or for every factor or family.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 all cores.

    Returns
    -------
    Explanation

    Notes
    -----
    A **log-linear network** is a sum of factors. By feature, a factor over several
    features is divided equally between them.

    In a **network** the term of feature x is log P(x | e, c), e being the evidence on
    the features before x in a topological order. For complete samples it is the entry
    log P(x | parents, c) of its CPT. A missing parent is marginalised given e, so that
    the term is the exact difference of the log odds with and without x. If the class
    has parents, its family has a term, too, log P(c | parents) - log P(c), which by
    feature is divided equally between the observed parents (the observed ancestors if
    there are none). In this order the ancestors of the class come first.

    A probability of zero counts as 1e-30, so that all contributions are finite.
    """
    check_choice("by", by, GROUPINGS)
    check_not_empty(codes, "explain")
    terms = terms_of(network)
    if by == "feature":
        values = terms.evaluate_features(codes, n_jobs)
    else:
        values = terms.evaluate(codes, n_jobs)
    features = tuple((name,) for name in network.schema.names[:-1])
    names = features if by == "feature" else terms.names
    return Explanation(
        network.schema, codes, names, terms.prior, values.transpose(1, 0, 2)
    )
