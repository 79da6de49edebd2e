"""`Explanation`: why each edge of a network is present or absent."""

from __future__ import annotations

from dataclasses import dataclass

from tanager.errors import InputError, unknown_name

ABSENT = {
    "forbidden": "not allowed",
    "bound": "removed: the child would have too many parents, or too large a CPT",
    "cycle": "removed: its only allowed direction closes a cycle",
    "untested": "undecided when the time was up",
}
"""Reasons, other than a cut set, why an edge is absent."""

DIRECTED = {
    "required": "the direction is required",
    "allowed": "the other direction is not allowed",
    "collider": "a collider: not in a cut set",
    "propagation": "the direction follows from others",
    "bound": "the class would have too many parents, or too large a CPT, otherwise",
    "default": "the direction is arbitrary",
}
"""Reasons for the direction of an edge."""


@dataclass(frozen=True)
class EdgeRecord:
    """Why there is an edge between two variables, or none.

    Parameters
    ----------
    pair : (str, str)
        Names of the variables; (parent, child) if there is an edge.
    present : bool
        Whether there is an edge.
    phase : str
        Phase that decided: ``"required"``, ``"forbidden"``, ``"draft"``, ``"thicken"``,
        ``"thin"`` (greedy search for a cut set), ``"thorough"`` (exhaustive search),
        ``"bound"``, ``"cycle"`` or ``"untested"``.
    cut_set : tuple of str or None
        Variables that make the two independent; None if none were found.
    information : float or None
        Mutual information in nats, given the cut set if there is one.
    strength : float or None
        The same minus its expectation under independence.
    p_value : float or None
        p-value, with G2 tests.
    limit : float
        Threshold of the strength, or significance level of the p-value.
    direction : str or None
        Why an edge has its direction: ``"required"``, ``"allowed"``, ``"collider"``,
        ``"propagation"``, ``"bound"`` or ``"default"``.
    """

    pair: tuple[str, str]
    present: bool
    phase: str
    cut_set: tuple[str, ...] | None
    information: float | None
    strength: float | None
    p_value: float | None
    limit: float
    direction: str | None

    def __str__(self) -> str:
        one, two = self.pair
        if self.present:
            why = DIRECTED[self.direction or "default"]
            return f"{one} -> {two}: {self.phase} ({self._evidence}); {why}"
        if self.cut_set is None:
            return f"{one}, {two}: {ABSENT[self.phase]}"
        given = f" given {', '.join(self.cut_set)}" if self.cut_set else ""
        return f"{one}, {two}: independent{given} ({self._evidence}), {self.phase}"

    @property
    def _evidence(self) -> str:
        if self.strength is None:
            return "not tested"
        if self.p_value is None:
            sign = "<" if self.strength < self.limit else ">="
            return f"{self.strength:.4f} {sign} {self.limit:g} nats"
        sign = ">" if self.p_value > self.limit else "<="
        return f"p = {self.p_value:.3g} {sign} {self.limit:g}"


class Explanation(tuple[EdgeRecord, ...]):
    """Records of all pairs of variables, edges first; prints as one line each."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def between(self, one: str, two: str) -> EdgeRecord:
        """Return the record of two variables, in any order."""
        for record in self:
            if set(record.pair) == {one, two}:
                return record
        names = list(dict.fromkeys(name for record in self for name in record.pair))
        for name in (one, two):
            if name not in names:
                raise unknown_name("variable", name, names)
        raise InputError(f"Expected two variables, got {one!r} twice.")

    @property
    def edges(self) -> Explanation:
        """Records of the edges."""
        return Explanation(record for record in self if record.present)

    @property
    def absent(self) -> Explanation:
        """Records of the pairs without an edge."""
        return Explanation(record for record in self if not record.present)
