"""Dask collections as lists of partitions, each with features, labels and weights."""

from __future__ import annotations

from typing import Any

from tanager.errors import InputError

KINDS = ("DataFrame", "Series", "Array", "Bag")
"""Dask collections that are read: data frames, arrays, and bags of frames."""


def is_dask(data: Any) -> bool:
    """Whether an object is a Dask DataFrame, Series, Array or Bag; imports nothing."""
    kind = type(data)
    return kind.__module__.partition(".")[0] in ("dask", "dask_expr") and any(
        base.__name__ in KINDS for base in kind.__mro__
    )


def active_client() -> Any:
    """The client that is current; None without one: then Dask's own threads work."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def partitions_of(data: Any, name: str) -> list[Any]:
    """The partitions of a collection as delayed objects; `name` is for errors.

    Those of a bag are lists of frames; those of an array have all columns.
    """
    if not is_dask(data):
        raise InputError(
            f"X is a Dask collection, but {name} is a {type(data).__name__}; expected "
            "a Dask collection with the same partitions. Take both from one DataFrame, "
            "or make an array of the same chunks: dask.array.from_array."
        )
    if hasattr(data, "chunks"):
        if data.ndim > 1:
            data = data.rechunk({1: -1})
        parts: list[Any] = data.to_delayed().ravel().tolist()
        return parts
    return list(data.to_delayed())


def zip_partitions(X: Any, y: Any, weights: Any) -> list[tuple[Any, Any, Any]]:
    """Partitions of features, labels and weights; labels and weights may be None."""
    columns = [partitions_of(X, "X")]
    for name, data in (("y", y), ("sample_weight", weights)):
        if data is None:
            columns.append([None] * len(columns[0]))
            continue
        parts = partitions_of(data, name)
        if len(parts) != len(columns[0]):
            raise InputError(
                f"X has {len(columns[0])} partitions and {name} has {len(parts)}; "
                "expected the same partitions. Take both from one DataFrame, or "
                "repartition or rechunk one like the other."
            )
        columns.append(parts)
    return list(zip(*columns, strict=True))


def read_chunks(X: Any, y: Any, weights: Any) -> list[tuple[Any, Any, Any]]:
    """The frames of a computed partition: several if it is one of a bag."""
    if isinstance(X, list):
        n = len(X)
        labels = [None] * n if y is None else list(y)
        given = [None] * n if weights is None else list(weights)
        if not len(labels) == len(given) == n:
            raise InputError(
                f"A partition of the bag X has {n} frames, that of y {len(labels)} and "
                f"that of sample_weight {len(given)}; expected as many."
            )
        return list(zip(X, labels, given, strict=True))
    return [(X, y, weights)]


def n_rows_of(X: Any) -> int:
    """Number of rows of a frame or array."""
    if hasattr(X, "shape"):
        return int(X.shape[0])
    return len(X) if not isinstance(X, dict) else len(next(iter(X.values()), ()))


def target_name(y: Any) -> str:
    """Name of a series, else "class"."""
    name = getattr(y, "name", None)
    is_named = isinstance(name, str) and name and not hasattr(y, "chunks")
    return name if is_named and hasattr(y, "divisions") else "class"  # type: ignore[return-value]
