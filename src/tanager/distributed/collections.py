"""Dask collections as lists of partitions, each with features, labels and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any
from uuid import uuid4

import numpy as np

from tanager.distributed.part_state import naming_partition
from tanager.encoding.dataframe_libraries import is_dask
from tanager.encoding.frame import read_frame
from tanager.errors import InputError, unknown_name
from tanager.types import BoolArray, IndexArray

Chunk = tuple[Any, Any, Any]
"""Features, labels and weights of neighbouring samples; weights may be None."""


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


def partitions_of(data: Any) -> list[Any]:
    """The partitions of a frame or array as delayed objects.

    Those of an array have all columns. Those of a frame are as many as it says: Dask's
    own optimisation joins files of which few columns are read, so that X and y would
    not have the same partitions. Columns that are not asked for are not read.
    """
    if hasattr(data, "chunks"):
        if data.ndim > 1:
            data = data.rechunk({1: -1})
        parts: list[Any] = data.to_delayed().ravel().tolist()
        return parts
    # Frames of older versions of Dask have no expressions to simplify.
    simplified = data.simplify() if hasattr(data, "simplify") else data
    return list(simplified.to_delayed(optimize_graph=False))


@dataclass(frozen=True)
class PositionFold:
    """The samples of all other folds, or those of one, by their position.

    Sample i is in fold i modulo `n_folds`. `starts` are the positions of the first
    samples of all partitions.
    """

    starts: Sequence[int]
    n_folds: int
    fold: int
    inside: bool

    def select(self, number: int, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Take the samples out of the chunks of one partition."""
        position = self.starts[number]
        for X, y, weights in chunks:
            n_rows = n_rows_of(X)
            rows = np.flatnonzero(self._is_chosen(position, n_rows))
            position += n_rows
            if len(rows):
                yield take_rows(X, rows), _take(y, rows), _take(weights, rows)

    def _is_chosen(self, first: int, n_rows: int) -> BoolArray:
        inside = np.arange(first, first + n_rows) % self.n_folds == self.fold
        chosen: BoolArray = inside == self.inside
        return chosen


@dataclass(frozen=True, eq=False)
class SampleCollections:
    """Features, labels and weights in the partitions of Dask collections.

    Parameters
    ----------
    X : Dask DataFrame, Array or Bag of frames
        The features.
    y, weights : Dask Series, Array or Bag, or str; weights may be None
        Partition by partition of the same samples. Or names of columns of X, which are
        then no features.
    fold : PositionFold or None, default=None
        Which samples count; None means all.
    """

    X: Any
    y: Any
    weights: Any
    fold: PositionFold | None = None

    def __post_init__(self) -> None:
        """Check that the collections have the same partitions."""
        self._take_columns()
        for name, data in (("y", self.y), ("sample_weight", self.weights)):
            if (data is None and name != "y") or isinstance(data, str):
                continue
            if not is_dask(data) or is_bag(data) != is_bag(self.X):
                raise InputError(
                    f"X is a Dask {type(self.X).__name__}, but {name} is a "
                    f"{type(data).__name__}; expected a Dask collection with the same "
                    "partitions. Take both from one DataFrame, make an array of the "
                    "same chunks by dask.array.from_array, or map one bag to both."
                )
            n_parts, wanted = count_partitions(data), len(self)
            if n_parts != wanted:
                raise InputError(
                    f"X has {wanted} partitions and {name} has {n_parts}; "
                    "expected the same partitions. Take both from one DataFrame, or "
                    "repartition or rechunk one like the other."
                )

    def _take_columns(self) -> None:
        """Take named columns out of a DataFrame; in bags they stay until read."""
        named = [name for name in (self.y, self.weights) if isinstance(name, str)]
        if not named or is_bag(self.X):
            return
        if not hasattr(self.X, "columns"):
            raise InputError(
                f"{named[0]!r} is to be a column of X, but X is a Dask "
                f"{type(self.X).__name__}, whose columns have no names; expected y of "
                "the same chunks."
            )
        if len(set(named)) < len(named):
            raise InputError(f"{named[0]!r} cannot be both the target and the weights.")
        known = [str(name) for name in self.X.columns]
        for name in named:
            if name not in known:
                raise unknown_name("column", name, known)
        for part in ("y", "weights"):
            name = getattr(self, part)
            if isinstance(name, str):
                object.__setattr__(self, part, self.X[name])
        object.__setattr__(self, "X", self.X.drop(columns=named))

    def __len__(self) -> int:
        """Number of partitions."""
        return count_partitions(self.X)

    @property
    def target(self) -> str:
        """Name of the labels, else "class"."""
        return self.y if isinstance(self.y, str) else target_name(self.y)

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Delayed ``function(chunks, *arguments)`` of every partition.

        `chunks` are those of the partition that have samples. Errors name it. The
        frames of a bag with named columns are made one after the other, while the
        function takes them.
        """
        from dask.delayed import delayed

        call = _PartitionCall(len(self), self.fold, function)
        if is_bag(self.X):
            return self._map_bags(call, arguments)
        make = delayed(call, pure=False)
        return [
            make(number, X, y, weights, *arguments)
            for number, (X, y, weights) in enumerate(
                zip(*map(self._delayed, (self.X, self.y, self.weights)), strict=True)
            )
        ]

    def _delayed(self, data: Any) -> list[Any]:
        return [None] * len(self) if data is None else partitions_of(data)

    def _map_bags(self, call: _PartitionCall, arguments: tuple[Any, ...]) -> list[Any]:
        """Let Dask hand the frames of bags over one by one.

        A partition is one task with the steps that make its frames, if all of them are
        of one bag; Dask passes lists between tasks.
        """
        from dask.bag import Bag
        from dask.delayed import delayed
        from dask.highlevelgraph import HighLevelGraph

        name = f"tanager-{uuid4().hex}"
        given = (self.X, self.y, self.weights)
        bags = [data for data in given if is_dask(data)]
        layer = {
            (name, number): (
                partial(_call_for_bag, call, arguments), number,
                *((data.name, number) if is_dask(data) else data for data in given),
            )
            for number in range(len(self))
        }  # fmt: skip
        graph = HighLevelGraph.from_collections(name, layer, dependencies=bags)  # type: ignore[arg-type]
        take_only = delayed(_only, pure=False)
        parts = Bag(graph, name, len(self)).to_delayed()  # type: ignore[no-untyped-call]
        return [take_only(part) for part in parts]


@dataclass(frozen=True)
class _PartitionCall:
    """A function of the chunks of a partition, as a task on a worker calls it."""

    n_parts: int
    fold: PositionFold | None
    function: Callable[..., Any]

    def __call__(
        self, number: int, X: Any, y: Any, weights: Any, *arguments: Any
    ) -> Any:
        with naming_partition(number, self.n_parts):
            chunks = read_chunks(X, y, weights)
            if self.fold is not None:
                chunks = self.fold.select(number, chunks)
            return self.function(chunks, *arguments)


def _call_for_bag(
    call: _PartitionCall,
    arguments: tuple[Any, ...],
    number: int,
    X: Any,
    y: Any,
    weights: Any,
) -> list[Any]:
    """The result for one partition of bags, as the only item of one."""
    return [call(number, iter(X), y, weights, *arguments)]


def _only(items: Sequence[Any]) -> Any:
    (item,) = items
    return item


def is_bag(data: Any) -> bool:
    """Whether a Dask collection is a bag."""
    return not hasattr(data, "chunks") and not hasattr(data, "divisions")


def count_partitions(data: Any) -> int:
    """Number of partitions of a collection; an array is cut along its rows only."""
    return len(data.chunks[0]) if hasattr(data, "chunks") else int(data.npartitions)


def read_chunks(X: Any, y: Any, weights: Any) -> Iterator[Chunk]:
    """The chunks of a partition that have samples: frames of an iterator, if it is one.

    `y` and `weights` are iterables of as many, or names of columns; or as `X` one
    object.
    """
    if not isinstance(X, Iterator):
        if n_rows_of(X):
            yield X, y, weights
        return
    nothing = object()
    given = [
        data for data in (y, weights) if not (data is None or isinstance(data, str))
    ]
    for number, items in enumerate(zip_longest(X, *given, fillvalue=nothing)):
        if any(item is nothing for item in items):
            raise InputError(
                f"One of the bags X, y and sample_weight has only {number} frames in a "
                "partition where another has more; expected as many."
            )
        frame, *rest = items
        if n_rows_of(frame):
            yield _split_frame(frame, y, weights, iter(rest))


def _split_frame(frame: Any, y: Any, weights: Any, rest: Iterator[Any]) -> Chunk:
    """Features, labels and weights of a frame; those that are no columns are next."""
    import narwhals as nw

    names = [name for name in (y, weights) if isinstance(name, str)]
    found: list[Any] = []
    table = nw.from_native(frame, eager_only=True) if names else None
    for data in (y, weights):
        if isinstance(data, str):
            assert table is not None
            if data not in table.columns:
                raise unknown_name("column", data, table.columns)
            found.append(table[data].to_native())
        else:
            found.append(None if data is None else next(rest))
    features = frame if table is None else table.drop(names).to_native()
    return features, found[0], found[1]


def count_rows(chunks: Iterable[Chunk]) -> int:
    """Number of samples of a partition."""
    return sum(n_rows_of(X) for X, _, _ in chunks)


def take_rows(X: Any, rows: IndexArray) -> Any:
    """Take samples out of features of any type that is read."""
    if isinstance(X, np.ndarray):
        return X[rows]
    return X.iloc[rows] if hasattr(X, "iloc") else read_frame(X).take(rows)


def _take(values: Any, rows: IndexArray) -> Any:
    """Take entries of labels or weights, which may be None."""
    if values is None:
        return None
    return values.iloc[rows] if hasattr(values, "iloc") else np.asarray(values)[rows]


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
