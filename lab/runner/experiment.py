"""Tables and figures of papers, as data: what is measured, and what was published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from lab.runner.cell import Cell, Value


@dataclass(frozen=True)
class Part:
    """Cells of one kind: the product of rows and a grid.

    Parameters
    ----------
    measurement : str
        Name of a function of `lab.measurements`.
    grid : mapping from str to sequence
        Parameters of which every combination is measured, the last one fastest.
    fixed : mapping from str to Value
        Parameters that are the same for all.
    quick : mapping or None
        What replaces entries of `grid` and `fixed`, and `rows`, in a quick run; None if
        the part is left out of it.
    rows : sequence of mappings, default=({},)
        Parameters that go together and are no grid, such as settings drawn at random.

    Examples
    --------
    >>> part = Part("answer", {"fold": [1, 2]}, rows=[{"seed": 0, "rate": 0.1}])
    >>> [dict(cell.parameters) for cell in part.cells(quick=False)]
    [{'seed': 0, 'rate': 0.1, 'fold': 1}, {'seed': 0, 'rate': 0.1, 'fold': 2}]
    """

    measurement: str
    grid: Mapping[str, Sequence[Value]]
    fixed: Mapping[str, Value] = field(default_factory=dict)
    quick: Mapping[str, Any] | None = None
    rows: Sequence[Mapping[str, Value]] = ({},)

    def cells(self, *, quick: bool) -> Iterator[Cell]:
        """All cells, or those of a quick run."""
        grid, fixed, rows = dict(self.grid), dict(self.fixed), self.rows
        if quick:
            if self.quick is None:
                return
            replaced = dict(self.quick)
            rows = replaced.pop("rows", rows)
            for name, value in replaced.items():
                (grid if name in grid else fixed)[name] = value
        for row in rows:
            for values in product(*grid.values()):
                chosen = dict(zip(grid, values, strict=True))
                yield Cell(self.measurement, {**fixed, **row, **chosen})


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper or a study.

    Parameters
    ----------
    paper, name : str
        ``su2008`` and ``table1``; together they are its full name.
    title : str
        What it shows.
    view : str
        Name of a function of `lab.views`, which turns numbers into tables, a figure
        and a verdict on the claim.
    parts : tuple of Part
        What is measured.
    claim : str, default=""
        What the paper concludes from it; empty for a study.
    published : tuple of mappings
        Rows of published numbers; empty if the paper has only a drawing.
    differs : tuple of str
        What is known to differ from the paper.
    options : mapping
        Arguments of the view.
    one_at_a_time : bool
        Whether cells are measured one after the other, because times are compared.
    cells_of : str or None
        Another experiment of the paper with the same cells.
    rule : str, default=""
        When the claim holds, does not hold, or is inconclusive.
    chosen : str, default=""
        What was chosen on test samples or by published test scores.
    command : str, default=""
        What plans and measures the cells, if that is not ``python -m lab reproduce``.
    """

    paper: str
    name: str
    title: str
    view: str
    parts: tuple[Part, ...]
    claim: str = ""
    published: tuple[Mapping[str, str], ...] = ()
    differs: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    one_at_a_time: bool = False
    cells_of: str | None = None
    rule: str = ""
    chosen: str = ""
    command: str = ""

    @property
    def full_name(self) -> str:
        """Paper and name, as on the command line."""
        return f"{self.paper}/{self.name}"

    def cells(self, *, quick: bool = False) -> list[Cell]:
        """What is measured for it, every cell once."""
        return list(
            dict.fromkeys(c for part in self.parts for c in part.cells(quick=quick))
        )
