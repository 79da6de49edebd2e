"""`SuperparentBounds`: bounds of the margins under each superparent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tanager.scores.family_tables import (
    ChangeTables,
    Family,
    change_tables,
    find_tables,
)
from tanager.scores.incremental_scorer import (
    CACHE_BYTES,
    WAVE,
    IncrementalScorer,
    Moved,
    Packing,
)
from tanager.scores.moves import Best, Moves
from tanager.scores.scoring_data import ScoringData
from tanager.types import BoolArray, FloatArray, IndexArray, IntArray
from tanager.utils.progress import check_stop
from tanager.utils.threads import map_threads


class SuperparentBounds:
    """Finds the superparent with the best classification rate as a structure grows.

    A superparent p is a parent of many features at once, so its arcs change the class
    of many samples, and all of its tables are needed for them. But an arc that is added
    to the structure changes only one or two tables of p. So the margin of every sample
    under p is bounded, and a change moves the bounds by no more than these tables can.
    If both bounds have the same sign, the sample is not classified again; the others
    are, and only for superparents that can still be the best.
    """

    def __init__(self, scorer: IncrementalScorer) -> None:
        n_features, n_rows = scorer.rows.codes.shape
        self._scorer = scorer
        # Bounds are in the original order of the samples.
        self._places = np.arange(n_rows)
        self._low = np.full((n_features, n_rows), -np.inf, dtype=np.float32)
        self._high = np.full((n_features, n_rows), np.inf, dtype=np.float32)
        self._known = np.zeros(n_features, dtype=np.bool_)
        self._remember(np.zeros((n_features, n_features), dtype=np.bool_))

    @staticmethod
    def suit(rows: ScoringData) -> bool:
        """Whether the bounds fit into memory, and there are several classes."""
        n_features, n_rows = rows.codes.shape
        # Two bounds of four bytes; log joint of before, its change, and one in between.
        n_bytes = 8 * n_rows * (n_features + 3 * rows.n_classes)
        return rows.n_classes > 1 and n_bytes <= CACHE_BYTES

    def reorder(self, order: IndexArray) -> None:
        """Follow the scorer, which has changed the order of its samples."""
        self._places = self._places[order]

    def best(
        self, moves: Moves, groups: Sequence[Sequence[int]], parents: Sequence[int]
    ) -> Best:
        """Find the group with the best classification rate; ties go to the first.

        Every move adds one parent; group g adds ``parents[g]``.
        """
        self._scorer.keep_tables(moves)
        looked_up = int(self._known[list(parents)].sum()) * len(self._places)
        most = self._shift(moves, groups, parents)
        order = np.argsort(-most, kind="stable")
        index, score, visited = -1, -np.inf, 0
        for first in range(0, len(order), WAVE):
            # Groups that may be equally good count as well: ties go to the first.
            wave = [g for g in order[first : first + WAVE].tolist() if most[g] >= score]
            if not wave:
                break
            found: list[tuple[float, int]] = []
            for some in self._scorer.batches(moves, [groups[g] for g in wave]):
                these = wave[len(found) : len(found) + len(some)]
                of = [parents[g] for g in these]
                found += self._settle(moves, some, of, most[these], score)
            for g, (weight, rows) in zip(wave, found, strict=True):
                visited += rows
                if weight > score or (weight == score and g < index):
                    index, score = g, weight
        return Best(index, score, len(groups), visited, looked_up)

    def _remember(self, members: BoolArray) -> None:
        """Store the families and the log joint to which the bounds belong.

        ``members[p, c]``: the superparent p is a parent of c.
        """
        scorer = self._scorer
        self._members = members
        self._families = list(scorer.families)
        self._tables = dict(scorer.kept_tables)
        self._log_joint = np.empty_like(scorer.log_joint)
        self._log_joint[self._places] = scorer.log_joint

    def _shift(
        self, moves: Moves, groups: Sequence[Sequence[int]], parents: Sequence[int]
    ) -> FloatArray:
        """Shift all bounds; return the greatest possible score of every group."""
        from tanager.scores import _move_group_kernels

        scorer, rows = self._scorer, self._scorer.rows
        members = np.zeros_like(self._members)
        for parent, group in zip(parents, groups, strict=True):
            members[parent, moves.children[list(group)]] = True
        self._forget(np.setdiff1d(np.flatnonzero(self._known), parents))
        pairs = zip(self._families, scorer.families, strict=True)
        changed = np.array([then is not now for then, now in pairs])
        known = self._known[:, None]
        dropped = np.argwhere(known & self._members & (changed | ~members))
        gained = np.argwhere(known & members & (changed | ~self._members))
        both = self._moves(dropped, gained)
        if 16 * scorer.move_cells(both).sum() > CACHE_BYTES:
            # Too many tables for the memory: start again without bounds.
            self._forget(np.flatnonzero(self._known))
            dropped, gained = dropped[:0], gained[:0]
            both = self._moves(dropped, gained)
        moved = self._pack(both, dropped, gained)
        dropped_of = _numbers(dropped[:, 0], len(members))
        gained_of = _numbers(gained[:, 0], len(members), first=len(dropped))
        change = scorer.log_joint - self._log_joint[self._places]

        # Not between two parents: all bounds must belong to the same log joint.
        check_stop()

        def shift(parent: int) -> float:
            if not self._known[parent]:
                return float(rows.score_weights.sum())
            most: float = _move_group_kernels.shift_bounds(
                rows.codes, rows.labels, rows.folds, rows.score_weights, self._places,
                change, *moved, rows.widths, rows.n_states, rows.n_folds,
                dropped_of[parent], gained_of[parent], self._low[parent],
                self._high[parent],
            )  # fmt: skip
            return most

        most = np.array(map_threads(shift, parents, rows.n_jobs))
        self._remember(members)
        return most

    def _forget(self, parents: IndexArray) -> None:
        """Drop the bounds of some parents."""
        self._low[parents], self._high[parents] = -np.inf, np.inf
        self._known[parents] = False

    def _moves(self, dropped: IndexArray, gained: IndexArray) -> Moves:
        """Moves for the arcs (parent, child) that were dropped, then those gained."""
        times = (dropped, self._families), (gained, self._scorer.families)
        return Moves.of(
            [
                (int(child), (int(parent), *families[child].parents.tolist()))
                for arcs, families in times
                for parent, child in arcs
            ]
        )

    def _pack(self, moves: Moves, dropped: IndexArray, gained: IndexArray) -> Moved:
        """Pack the moves of `_moves` with their tables."""
        scorer = self._scorer
        packing, before = Packing(moves), 0
        for arcs, families, kept in (
            (dropped, self._families, self._tables),
            (gained, scorer.families, scorer.kept_tables),
        ):
            for child in np.unique(arcs[:, 1]).tolist():
                numbers = before + np.flatnonzero(arcs[:, 1] == child)
                sets = moves.parents[numbers, : moves.sizes[numbers[0]]]
                packing.add(numbers, *self._find(families[child], sets, kept))
            before += len(arcs)
        return packing.moved()

    def _find(
        self, family: Family, sets: IntArray, kept: Mapping[int, ChangeTables]
    ) -> tuple[ChangeTables, IntArray]:
        """Tables for sets of parents of a feature, and the position of each set."""
        found = find_tables(kept, family.child, sets)
        if found is not None:
            return found
        scorer, sets = self._scorer, np.ascontiguousarray(sets)
        made = change_tables(scorer.rows, scorer.smoothing, family, sets)
        return made, np.arange(len(sets))

    def _settle(
        self,
        moves: Moves,
        groups: Sequence[Sequence[int]],
        parents: Sequence[int],
        most: FloatArray,
        least: float,
    ) -> list[tuple[float, int]]:
        """Score every group exactly; also return the number of samples classified."""
        from tanager.scores import _move_group_kernels

        scorer, rows = self._scorer, self._scorer.rows
        check_stop()
        numbers = np.concatenate([np.asarray(group) for group in groups])
        few = Moves(moves.children[numbers], moves.parents[numbers])
        moved = scorer.pack(few, keep=False)
        borders = np.cumsum([0, *map(len, groups)])
        self._known[list(parents)] = True

        def settle(g: int) -> tuple[float, int]:
            found: tuple[float, int] = _move_group_kernels.settle(
                rows.codes, rows.labels, rows.folds, rows.score_weights, self._places,
                scorer.log_joint, *moved, rows.widths, rows.n_states, rows.n_folds,
                np.arange(borders[g], borders[g + 1]), most[g], least,
                self._low[parents[g]], self._high[parents[g]],
            )  # fmt: skip
            return found

        return map_threads(settle, range(len(groups)), rows.n_jobs)


def _numbers(parents: IndexArray, n_features: int, *, first: int = 0) -> list[IntArray]:
    """Positions of every feature in `parents`, counted from `first` on."""
    return [first + np.flatnonzero(parents == p) for p in range(n_features)]
