"""`ExportMixin`: methods that write a classifier in other forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tanager.classifiers.base import NetworkClassifier

if TYPE_CHECKING:
    from tanager.export import RatingTable
    from tanager.report import ModelCard


class ExportMixin(NetworkClassifier):
    """SQL, ONNX, C, JavaScript, points and the card of a classifier with one network.

    `tanager.export` is imported by the methods, since few classifiers are exported.
    """

    def to_sql(
        self,
        *,
        table: str = "data",
        dialect: str = "duckdb",
        keep: Sequence[str] = (),
        complete: bool = False,
    ) -> str:
        """Write a query that scores a table; see `tanager.export.to_sql`."""
        from tanager.export import to_sql

        network = self._fitted().network_
        return to_sql(
            network, table=table, dialect=dialect, keep=keep, complete=complete
        )

    def to_onnx(self, *, contributions: bool = False, complete: bool = False) -> Any:
        """Write an ONNX model; see `tanager.export.to_onnx`."""
        from tanager.export import to_onnx

        network = self._fitted().network_
        return to_onnx(network, contributions=contributions, complete=complete)

    def to_c(
        self,
        *,
        name: str = "model",
        bits: int = 32,
        complete: bool = False,
        max_bytes: int | None = None,
    ) -> str:
        """Write one C99 file; see `tanager.export.to_c`."""
        from tanager.export import to_c

        source = to_c(
            self._fitted().network_,
            name=name,
            bits=bits,
            complete=complete,
            max_bytes=max_bytes,
        )
        return source.text

    def to_js(self) -> str:
        """Write one JavaScript module; see `tanager.export.to_js`."""
        from tanager.export import to_js

        return to_js(self._fitted().network_)

    def to_rating_table(self, **arguments: Any) -> RatingTable:
        """Write a table of points; see `tanager.export.to_rating_table`."""
        from tanager.export import to_rating_table

        return to_rating_table(self._fitted().network_, **arguments)

    def card(
        self, X: Any = None, y: Any = None, *, title: str = "", name: str = ""
    ) -> ModelCard:
        """Make a model card: what a user of the model should know of it.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features), default=None
            Samples for the metrics, as in `predict`; None is a card without metrics.
        y : array-like of shape (n_samples,), default=None
            Their classes; may have missing labels. Samples that the model was not
            fitted to give honest metrics.
        title : str, default=""
            Heading.
        name : str, default=""
            Name of the dataset.

        Returns
        -------
        ModelCard
            Plain data; `to_markdown` and printing give Markdown with sections to fill
            in, such as the intended use.

        Examples
        --------
        >>> from tanager import BayesNetClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = BayesNetClassifier().fit(iris.X[::2], iris.y[::2])
        >>> card = model.card(iris.X[1::2], iris.y[1::2], name="iris, odd rows")
        >>> card.data.n_samples, card.data.assessment.accuracy.value > 0.9
        (75, True)
        >>> print(str(card).splitlines()[4])
        ## Intended use
        """
        from tanager.classifiers.reports_and_cards import make_model_card

        return make_model_card(self._fitted(), X, y, title=title, name=name)
