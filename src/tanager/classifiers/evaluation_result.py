"""`EvaluationResult`: scores of classifiers in every fold, as text, data or plot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np

from tanager._version import __version__
from tanager.classifiers.result_export import ExportableResult
from tanager.compare import Results, corrected_t_test
from tanager.errors import unknown_name
from tanager.network import AnyNetwork
from tanager.plots.bars import dot_picture
from tanager.plots.figure import draw_figure
from tanager.plots.picture import Picture, SvgMixin
from tanager.report import ComparedMetric, Comparison, write_comparison
from tanager.types import FloatArray
from tanager.utils.atomic_write import PathLike
from tanager.utils.text import size_text, table_text

SIGNIFICANT = 0.05  # differences with a smaller p-value are marked


@dataclass(frozen=True)
class FoldResult:
    """Scores of one classifier in one fold.

    Parameters
    ----------
    model : str
        Name of the classifier.
    repeat, fold : int
        Which fold, counted from 1.
    n_train, n_test : int
        Numbers of labelled samples.
    accuracy : float
        Fraction of the test samples whose most probable class is right.
    log_loss : float
        Mean of -ln P(right class), probabilities of at least 2.2e-16.
    brier : float
        Mean over samples of the sum over classes of (P(class) - [right])^2; 0 to 2.
    fit_seconds, predict_seconds : float
        Time to fit, and to predict the test samples.
    n_parameters : int or None
        Free parameters of the networks; None for other classifiers.
    scores : dict from str to float
        The further scores that were asked for.
    edges : tuple of pairs of str, default=()
        Names of features that the networks join, in the order of the names.
    """

    model: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    accuracy: float
    log_loss: float
    brier: float
    fit_seconds: float
    predict_seconds: float
    n_parameters: int | None
    scores: dict[str, float]
    edges: tuple[tuple[str, str], ...] = ()

    @property
    def seconds(self) -> float:
        """Time to fit and to predict."""
        return self.fit_seconds + self.predict_seconds


def feature_edges(networks: Sequence[AnyNetwork]) -> tuple[tuple[str, str], ...]:
    """Pairs of features that some network joins, each with its names in order."""
    found = set()
    for network in networks:
        target = network.schema.target_variable.name
        found |= {(min(e), max(e)) for e in network.edges if target not in e}
    return tuple(sorted(found))


@dataclass(frozen=True)
class Metric:
    """A column of the printed table: key, title, scale, digits, better if higher."""

    key: str
    title: str
    scale: float = 1.0
    digits: int = 3
    sign: int = 1

    def values(self, folds: Sequence[FoldResult]) -> FloatArray:
        """One value for every fold."""
        key = self.key
        found = [f.scores[key] if key in f.scores else getattr(f, key) for f in folds]
        return self.scale * np.array(found)


METRICS = (
    Metric("accuracy", "Accuracy %", 100, 2),
    Metric("log_loss", "Log loss", sign=-1),
    Metric("brier", "Brier score", sign=-1),
)
SECONDS = Metric("seconds", "Seconds", sign=0)
TIMES = ("fit_seconds", "predict_seconds")


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationResult(SvgMixin, ExportableResult):
    """Result of `evaluate`: prints as a table, exports and plots.

    Parameters
    ----------
    data : str
        Name of the dataset.
    models : tuple of str
        Names of the classifiers; the others are compared with the first.
    folds : tuple of FoldResult
        By fold, then in the order of `models`.
    n_samples, n_unlabelled, n_features, n_classes : int
        Size of the dataset.
    n_repeats : int
        Repetitions of the cross-validation.
    random_state : int
        Seed of the folds and of the classifiers that were given by name.
    protocol : str
        How the samples were split, in words.
    rare_classes : tuple of str
        Classes with fewer samples than folds, with their numbers of samples.
    """

    data: str
    models: tuple[str, ...]
    folds: tuple[FoldResult, ...]
    n_samples: int
    n_unlabelled: int
    n_features: int
    n_classes: int
    n_repeats: int
    random_state: int
    protocol: str
    rare_classes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for every classifier and fold; see `to_frame`."""
        rows = []
        for fold in self.folds:
            row = {"data": self.data, **asdict(fold)}
            row |= row.pop("scores")
            del row["edges"]
            rows.append(row | {"seed": self.random_state, "tanager": __version__})
        return rows

    def to_results(self, metric: str = "accuracy") -> Results:
        """The values of one metric for the statistical tests of `tanager.compare`.

        Parameters
        ----------
        metric : str, default="accuracy"
            A column of `to_frame`: ``"accuracy"``, ``"log_loss"``, ``"brier"``,
            ``"fit_seconds"``, ``"predict_seconds"`` or a further score.

        Returns
        -------
        Results
            With one dataset. To compare over several datasets, use
            ``Results.from_rows(first.rows() + second.rows(), value=metric)``.
        """
        return Results.from_rows(
            self.rows(),
            value=self._metric(metric).key,
            fold=("repeat", "fold"),
            higher_is_better=self._metric(metric).sign > 0,
            n_repeats=self.n_repeats,
            sizes={self.data: self.n_samples},
        )

    def _metric(self, key: str) -> Metric:
        known = {metric.key: metric for metric in METRICS}
        known |= {name: Metric(name, name, sign=-1) for name in TIMES}
        known |= {name: Metric(name, name) for name in self.folds[0].scores}
        if key not in known:
            raise unknown_name("metric", key, known)
        return known[key]

    def table(self) -> str:
        """Means and standard deviations, a line for every classifier."""
        by_name = {
            name: [fold for fold in self.folds if fold.model == name]
            for name in self.models
        }
        first = by_name[self.models[0]]
        shown = (*METRICS, *map(self._metric, self.folds[0].scores), SECONDS)
        lines = [
            [name, *(_cell(metric, own, first) for metric in shown)]
            for name, own in by_name.items()
        ]
        return table_text(["Model", *(metric.title for metric in shown)], lines)

    def legend(self) -> str:
        """What the numbers and marks of `table` mean."""
        text = "Mean ± standard deviation over folds; seconds to fit and predict."
        if len(self.models) > 1:
            text += (
                f"\n+ better, - worse than {self.models[0]} (corrected paired t-test, "
                f"p < {SIGNIFICANT})."
            )
        return text

    @property
    def _size_text(self) -> str:
        return size_text(
            self.n_samples, self.n_features, self.n_classes, self.n_unlabelled
        )

    def __str__(self) -> str:
        head = (
            f"{self.data}: {self._size_text}\n{self.protocol}, seed {self.random_state}"
        )
        return f"{head}\n\n{self.table()}\n\n{self.legend()}"

    def report(self, path: PathLike) -> None:
        """Write an HTML page: scores, intervals, ranks, structures, times.

        Parameters
        ----------
        path : str or path
            File to write, usually ``something.html``; replaced in one step. It is read
            without a server and makes no request.

        Examples
        --------
        >>> import os, tempfile
        >>> from tanager import datasets, evaluate
        >>> iris = datasets.load("iris")
        >>> result = evaluate(["NB+FE", "TAN+FE"], iris.X, iris.y, cv=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(os.path.join(folder, "comparison.html"))
        """
        by_name = [[f for f in self.folds if f.model == name] for name in self.models]
        shown = (*METRICS, *map(self._metric, self.folds[0].scores), SECONDS)
        sizes = [[f.n_parameters for f in own if f.n_parameters] for own in by_name]
        write_comparison(
            path,
            Comparison(
                f"Comparison on {self.data}",
                f"{self._size_text}; {self.protocol}, seed {self.random_state}.",
                self.models,
                tuple(
                    ComparedMetric(
                        metric.title,
                        np.array([metric.values(own) for own in by_name]),
                        metric.sign,
                        metric.digits,
                        100.0 if metric.key == "accuracy" else inf,
                    )
                    for metric in shown
                ),
                (("Parameters", tuple(_mean_text(own) for own in sizes)),),
                tuple(Counter(e for f in own for e in f.edges) for own in by_name),
                _test_ratio(self.folds),
            ),
        )

    def picture(self, metric: str = "accuracy") -> Picture:
        """The scores of every fold, and their means; `metric` as in `to_results`."""
        shown = self._metric(metric)
        better = "higher" if shown.sign > 0 else "lower"
        return dot_picture(
            self.models,
            [
                shown.values([fold for fold in self.folds if fold.model == name])
                for name in self.models
            ],
            title=f"{self.data}: {self.protocol}",
            xlabel=f"{shown.title} ({better} is better)",
        )

    def plot(self, metric: str = "accuracy", path: Any = None) -> Any:
        """Plot the scores of every fold, and their means.

        Parameters
        ----------
        metric : str, default="accuracy"
            As in `to_results`.
        path : str or path, default=None
            File to write: .svg, .pdf or .png; without such an ending an SVG and a PNG.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows. Needs the extra ``plot``; `to_svg` does
            without it.
        """
        picture = self.picture(metric)

        def draw(figure: Any) -> None:
            figure.set_size_inches(5.5, 0.8 + 0.35 * len(self.models))
            figure.set_layout_engine("constrained")
            picture.plot(figure.add_subplot())

        return draw_figure(draw, path)


def _test_ratio(folds: Sequence[FoldResult]) -> float:
    """Mean ratio of test and training samples; models may be fitted to others."""
    return float(np.mean([fold.n_test / max(fold.n_train, 1) for fold in folds]))


def _mean_text(numbers: Sequence[int]) -> str:
    """The mean of whole numbers, rounded; a dash for none."""
    return f"{sum(numbers) / len(numbers):,.0f}" if numbers else "-"


def _cell(
    metric: Metric, own: Sequence[FoldResult], first: Sequence[FoldResult]
) -> str:
    """Mean and deviation over folds, and a mark for a significant difference."""
    values = metric.values(own)
    text = f"{values.mean():.{metric.digits}f}"
    if len(values) > 1:
        text += f" ± {values.std(ddof=1):.{metric.digits}f}"
    if metric.sign == 0 or own is first or len(values) < 2:
        return text + "  "
    gains = metric.sign * (values - metric.values(first))
    t, p = corrected_t_test(gains, _test_ratio(own))
    if p >= SIGNIFICANT:
        return text + "  "
    return f"{text} {'+' if t > 0 else '-'}"
