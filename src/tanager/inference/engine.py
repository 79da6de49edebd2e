"""`Engine`: the log joint of rows under a network, by the fastest exact method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tanager.errors import TableSizeError
from tanager.inference.elimination import log_marginal
from tanager.inference.forest import ForestTables, is_forest
from tanager.inference.junction_tree import JunctionTables
from tanager.inference.k_tree import KTreeTables, is_k_tree
from tanager.inference.log_joint_tables import ScoreTables
from tanager.inference.triangulation import MAX_TREE_CELLS
from tanager.model.layout import Parameters
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.threads import map_threads, row_blocks

SMALL_TABLE = 1000
"""Cells of the largest table up to which k-trees use `KTreeTables`, up to three times
faster for few missing values; with larger tables the junction tree is up to four times
faster."""

MAX_CELLS_OF_K_TREES = 5_000_000
"""Cells of a junction tree (40 MB) above which k-trees use `KTreeTables`."""

FEW_TABLES = 256
"""Rows times tables up to which NumPy is used: a small query never waits for numba."""


@dataclass(frozen=True, eq=False)
class Engine:
    """Scores rows under one network; compiled forms are made when first needed.

    Complete rows add the table cells they select. For incomplete rows the engine passes
    messages: in a forest and in a k-tree with small tables along the arcs, in any other
    network along the junction tree. Where that is too large, k-trees use their arcs
    all the same, and other networks variable elimination, which evidence makes cheaper.
    Variable elimination also answers small queries.

    Parameters
    ----------
    parameters : Parameters
        The CPTs of the network.
    schema : Schema or None, default=None
        The variables' names for error messages; None uses their indices.
    """

    parameters: Parameters
    schema: Schema | None = None

    @cached_property
    def _complete(self) -> ScoreTables:
        return ScoreTables.of(self.parameters)

    @cached_property
    def _tree(self) -> ForestTables | KTreeTables | None:
        layout = self.parameters.layout
        if is_forest(layout):
            return ForestTables.of(self.parameters)
        if is_k_tree(layout) and max(layout.sizes) <= SMALL_TABLE:
            return KTreeTables.of(self.parameters)
        return None

    @cached_property
    def _general(self) -> JunctionTables | KTreeTables | None:
        has_arcs = is_k_tree(self.parameters.layout)
        most = MAX_CELLS_OF_K_TREES if has_arcs else MAX_TREE_CELLS
        try:
            return JunctionTables.of(self.parameters, self._complete, max_cells=most)
        except TableSizeError:
            return KTreeTables.of(self.parameters) if has_arcs else None

    @cached_property
    def _missing_codes(self) -> IntArray:
        """The code for missing of every feature; an unused one for the class."""
        missing = np.array(self.parameters.layout.n_states)
        if self.parameters.layout.target is not None:
            missing[self.parameters.layout.target] = np.iinfo(missing.dtype).max
        return missing

    @cached_property
    def has_zeros(self) -> bool:
        """Whether a CPT has an entry of zero, so that rows can be impossible."""
        return bool(np.isneginf(self.parameters.log_theta).any())

    @cached_property
    def log_prior(self) -> FloatArray:
        """Marginal log probability of every class, shape (n_classes,)."""
        states = self.parameters.layout.n_states
        nothing = np.array([states], dtype=np.min_scalar_type(max(states)))
        return self._by_elimination(nothing).reshape(-1)

    def has_missing(self, codes: CodeArray) -> bool:
        """Whether any feature in `codes` is missing."""
        # The code for missing is the highest: one maximum per column finds it.
        highest = codes.max(axis=0)
        return bool((highest >= self._missing_codes[: codes.shape[1]]).any())

    def log_joint_block(self, codes: CodeArray) -> FloatArray:
        """Score one block of rows in this thread; see `log_joint`."""
        if not self.has_missing(codes):
            return self._complete.log_joint(codes)
        if self._tree is not None:
            return self._tree.log_joint(codes)
        few = len(codes) * self.parameters.layout.n_tables <= FEW_TABLES
        if not few and self._general is not None:
            return self._general.log_joint(codes)
        return self._by_elimination(codes)

    def _by_elimination(self, codes: CodeArray) -> FloatArray:
        target = self.parameters.layout.target
        keep = () if target is None else (target,)
        found = log_marginal(self.parameters, codes, keep, self.schema)
        return found.reshape(len(codes), -1)

    def log_joint(self, codes: CodeArray, n_jobs: int | None = None) -> FloatArray:
        """Log joint probability of every row's evidence and every class.

        Parameters
        ----------
        codes : ndarray of unsigned int, shape (n_rows, n_columns), Fortran order
            Column v is variable v; its number of states means missing. The class column
            is not read and may be absent if it is the last.
        n_jobs : int or None, default=None
            Threads over blocks of rows.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes)
            One column where the network has no target.
        """
        blocks = row_blocks(codes.shape[0])
        if len(blocks) <= 1:
            return self.log_joint_block(codes)
        out = np.empty((codes.shape[0], self._complete.n_classes))
        # Compiled once, before the threads start.
        if self._tree is None and self.has_missing(codes):
            self._general  # noqa: B018

        def score(block: tuple[int, int]) -> None:
            start, stop = block
            # A copy, so that every column is contiguous for the kernels.
            block_codes = np.asfortranarray(codes[start:stop])
            out[start:stop] = self.log_joint_block(block_codes)

        map_threads(score, blocks, n_jobs)
        return out


def engine_for(parameters: Parameters, schema: Schema | None = None) -> Engine:
    """The engine for a network; `schema` names the variables in error messages."""
    return Engine(parameters, schema)
