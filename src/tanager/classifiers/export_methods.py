"""`ExportMixin`: methods that write a classifier in other languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tanager.classifiers.base import NetworkClassifier

if TYPE_CHECKING:
    from tanager.export import RatingTable


class ExportMixin(NetworkClassifier):
    """SQL, ONNX, C, JavaScript and points of a classifier with one network.

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
        self, *, name: str = "model", bits: int = 32, complete: bool = False
    ) -> str:
        """Write one C99 file; see `tanager.export.to_c`."""
        from tanager.export import to_c

        network = self._fitted().network_
        return to_c(network, name=name, bits=bits, complete=complete).text

    def to_js(self) -> str:
        """Write one JavaScript module; see `tanager.export.to_js`."""
        from tanager.export import to_js

        return to_js(self._fitted().network_)

    def to_rating_table(self, **arguments: Any) -> RatingTable:
        """Write a table of points; see `tanager.export.to_rating_table`."""
        from tanager.export import to_rating_table

        return to_rating_table(self._fitted().network_, **arguments)
