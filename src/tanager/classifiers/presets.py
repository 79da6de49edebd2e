"""`NaiveBayesClassifier` and `TANClassifier`: two common choices of structure."""

from __future__ import annotations

from typing import Any, ClassVar

from tanager.classifiers.bayes_net import BayesNetClassifier


class _PresetClassifier(BayesNetClassifier):
    """A classifier whose structure is not an argument."""

    _structure: ClassVar[str]

    def __init__(
        self,
        encoder: Any = "mdl",
        parameters: Any = "fe",
        *,
        missing: str = "marginalize",
        unknown: str = "marginalize",
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            encoder=encoder,
            structure=self._structure,
            parameters=parameters,
            missing=missing,
            unknown=unknown,
            class_weight=class_weight,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
        )


class NaiveBayesClassifier(_PresetClassifier):
    """Naive Bayes (NB) for mixed data with missing values.

    `BayesNetClassifier` with ``structure="nb"``; everything else is documented there.

    Parameters
    ----------
    encoder, parameters : default="mdl", "fe"
        As in `BayesNetClassifier`; by default MDL discretisation and frequencies.
    missing, unknown, class_weight, warm_start, n_jobs, random_state
        As in `BayesNetClassifier`.

    Examples
    --------
    >>> X = [["sunny", 31.0], ["rain", 12.0], ["rain", None], ["sunny", 28.0]]
    >>> model = NaiveBayesClassifier().fit(X, ["out", "in", "in", "out"])
    >>> model.predict([["sunny", None], ["snow", 10.0]])
    array(['out', 'in'], dtype='<U3')
    """

    _structure = "nb"


class TANClassifier(_PresetClassifier):
    """Tree-augmented naive Bayes (TAN) for mixed data with missing values.

    `BayesNetClassifier` with a tree as structure; everything else is documented there.

    Parameters
    ----------
    encoder, parameters : default="mdl", "fe"
        As in `BayesNetClassifier`; by default MDL discretisation and frequencies.
    missing, unknown, class_weight, warm_start, n_jobs, random_state
        As in `BayesNetClassifier`.

    Examples
    --------
    >>> X = [["a", "u"], ["b", "v"], ["a", "v"], ["b", "u"]] * 5
    >>> y = [0, 0, 1, 1] * 5  # exclusive or: naive Bayes cannot learn it
    >>> TANClassifier().fit(X, y).score(X, y)
    1.0
    """

    _structure = "tan"
