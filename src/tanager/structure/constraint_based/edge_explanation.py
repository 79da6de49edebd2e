"""`Explanation`: why a network has the edges it has, and not the others."""

from __future__ import annotations

from dataclasses import dataclass

from tanager.errors import InputError, unknown_name

ABSENT = {
    "forbidden": "not allowed",
    "bound": "taken out: the child would have too many parents, or too large a table",
    "cycle": "taken out, as its only allowed direction closes a cycle",
    "untested": "not decided when time was up",
}
"""Words for edges that are absent for another reason than a cut set."""

DIRECTED = {
    "required": "the direction is required",
    "allowed": "the other direction is not allowed",
    "collider": "a collider, in no cut set of its parents",
    "propagation": "the direction follows from others",
    "bound": "the class would have too many parents, or too large a table, otherwise",
    "default": "the direction is free",
}
"""Words for how an edge got its direction."""


@dataclass(frozen=True)
class EdgeRecord:
    """Why two variables are joined by an edge, or are not.

    Parameters
    ----------
    pair : (str, str)
        Names of the variables; of an edge that is present (parent, child).
    present : bool
        Whether there is an edge.
    phase : str
        What decided: ``"required"``, ``"forbidden"``, ``"draft"``, ``"thicken"``,
        ``"thin"`` (by the greedy cut set), ``"thorough"`` (by all cut sets),
        ``"bound"``, ``"cycle"`` or ``"untested"``.
    cut_set : tuple of str or None
        Variables that make the two independent; None if none does or none was found.
    information : float or None
        Their mutual information in nats given the cut set, else given nothing.
    strength : float or None
        The same without what is expected by chance.
    p_value : float or None
        Probability of that much by chance, where the tests are by G2.
    limit : float
        The threshold of the strength, or the significance of the p-value.
    direction : str or None
        How an edge got its direction: ``"required"``, ``"allowed"``, ``"collider"``,
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
            return f"{one} -> {two}: {self.phase} ({self._numbers}); {why}"
        if self.cut_set is None:
            return f"{one}, {two}: {ABSENT[self.phase]}"
        given = f" given {', '.join(self.cut_set)}" if self.cut_set else ""
        return f"{one}, {two}: independent{given} ({self._numbers}), {self.phase}"

    @property
    def _numbers(self) -> str:
        if self.strength is None:
            return "not tested"
        if self.p_value is None:
            sign = "<" if self.strength < self.limit else ">="
            return f"{self.strength:.4f} {sign} {self.limit:g} nats"
        sign = ">" if self.p_value > self.limit else "<="
        return f"p = {self.p_value:.3g} {sign} {self.limit:g}"


class Explanation(tuple[EdgeRecord, ...]):
    """Records of all pairs of variables, edges first; printed a line each."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def between(self, one: str, two: str) -> EdgeRecord:
        """The record of two variables, in any order."""
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
        """The records of edges that are present."""
        return Explanation(record for record in self if record.present)

    @property
    def absent(self) -> Explanation:
        """The records of pairs without an edge."""
        return Explanation(record for record in self if not record.present)
