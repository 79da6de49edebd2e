"""`SumQuery`: the SQL of a model whose scores are sums of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tanager.errors import CapabilityError, InputError
from tanager.export.score_terms import ScoreTerm, ScoreTerms, TermAxis
from tanager.export.sql_dialect import Dialect
from tanager.model.schema import State, Variable
from tanager.types import FloatArray

CASE_CELLS = 32
"""Cells up to which a term is a CASE expression; larger ones are joined tables."""

CASE_STATES = 64
"""Categories up to which a bin is found by CASE; more are a joined table."""

JOINS = 20
"""Tables joined at once: databases allow about 60."""


@dataclass(eq=False)
class SumQuery:
    """A query that adds the terms of a model: named parts, and a SELECT from the last.

    Parameters
    ----------
    terms : ScoreTerms
        The model.
    dialect : Dialect
        The database.
    table : str
        Name of the table that is scored.
    keep : tuple of str
        Columns of the table that the result repeats.
    """

    terms: ScoreTerms
    dialect: Dialect
    table: str
    keep: tuple[str, ...]
    parts: list[str] = field(default_factory=list, init=False)
    bins: dict[tuple[int, tuple[int, ...]], str] = field(
        default_factory=dict, init=False
    )

    def text(self) -> str:
        """The whole statement."""
        if len(set(self.keep)) < len(self.keep):
            raise InputError(f"keep names a column twice: {list(self.keep)}.")
        self._check_names()
        self.kept = [f"tanager_k{i}" for i in range(len(self.keep))]
        self.sums = [f"tanager_s{c}" for c in range(self.terms.n_columns)]
        shrinks = any(term.variances is not None for term in self.terms.terms)
        self.spreads = [f"tanager_v{c}" for c in range(len(self.sums) * shrinks)]
        last = self.add_terms(self.add_bins())
        found = self._final(last)
        if (most := self.dialect.max_length) is not None and len(found) > most:
            raise CapabilityError(
                f"The query has {len(found):,} characters, but {self.dialect.name} "
                f"takes {most:,}. Export a smaller model, such as naive Bayes or one "
                "with fewer factors, FactorSearch(order=2, max_factors=50), fewer bins "
                "or fewer categories, or use to_onnx."
            )
        return found

    def _check_names(self) -> None:
        """Raise if a table of this database cannot have all features."""
        seen: dict[str, str] = {}
        for variable in self.terms.features:
            key = self.dialect.same_name(variable.name)
            if key in seen:
                reason = (
                    f"reads {self.dialect.max_name} bytes of a name"
                    if self.dialect.case_sensitive
                    else "ignores case"
                )
                raise CapabilityError(
                    f"The features {seen[key]!r} and {variable.name!r} are the same "
                    f"column for {self.dialect.name}, which {reason}. Rename one "
                    "before fitting."
                )
            seen[key] = variable.name

    # Bins of the features

    def add_bins(self) -> str:
        """Add the part that finds the bins of every row, and give its name."""
        columns = [
            f"{self._column(name)} AS {alias}"
            for name, alias in zip(self.keep, self.kept, strict=True)
        ]
        joins = []
        for axis in self.axes_used():
            key = (axis.feature, axis.bins)
            if key in self.bins:
                continue
            alias = f"tanager_b{len(self.bins)}"
            self.bins[key] = alias
            variable = self.terms.features[axis.feature]
            if variable.cuts is None and variable.n_values > CASE_STATES:
                expression, join = self._joined_bin(variable, axis, alias)
                joins.append(join)
            else:
                expression = self._case_bin(variable, axis)
            columns.append(f"{expression} AS {alias}")
        # Sums begin without the prior: variances shrink them towards it.
        zero = self.dialect.number(0.0)
        columns += [f"{zero} AS {name}" for name in self.sums + self.spreads]
        source = f"{self._source()} AS tanager_t"
        self.part("tanager_0", columns, [source, *joins])
        return "tanager_0"

    def axes_used(self) -> list[TermAxis]:
        """The features and bins that the query looks at."""
        return [axis for term in self.terms.terms for axis in term.axes]

    def _source(self) -> str:
        return ".".join(self.dialect.identifier(p) for p in self.table.split("."))

    def _column(self, name: str) -> str:
        return f"tanager_t.{self.dialect.identifier(name)}"

    def _case_bin(self, variable: Variable, axis: TermAxis) -> str:
        """The bin of a feature as one expression."""
        column = self._column(variable.name)
        bins = [str(b) if b >= 0 else "NULL" for b in axis.bins]
        if variable.is_left_out:  # its column may hold anything
            return bins[0]
        missing = bins[variable.missing_code]
        absent = self.dialect.is_missing(column, numeric=variable.cuts is not None)
        if variable.cuts is not None:
            found = self._search(column, variable.cuts, bins, 0, variable.n_values - 1)
            return f"CASE WHEN {absent} THEN {missing} ELSE {found} END"
        whens = [
            f"WHEN {self._equals(variable, column, state)} THEN {bins[code]}"
            for code, state in enumerate(variable.value_states)
        ]
        return (
            f"CASE WHEN {absent} THEN {missing} {' '.join(whens)} "
            f"ELSE {bins[variable.n_states]} END"
        )

    def _search(
        self, column: str, cuts: Sequence[float], bins: list[str], low: int, high: int
    ) -> str:
        """Binary search for the bin of a number among codes `low` to `high`."""
        if len(set(bins[low : high + 1])) == 1:
            return bins[low]
        middle = (low + high) // 2
        cut = self.dialect.number(cuts[middle])
        left = self._search(column, cuts, bins, low, middle)
        right = self._search(column, cuts, bins, middle + 1, high)
        return f"CASE WHEN {column} <= {cut} THEN {left} ELSE {right} END"

    def _equals(self, variable: Variable, column: str, state: State) -> str:
        """Condition that a column has a category; mixed types are compared as text."""
        if len({isinstance(s, str) for s in variable.value_states}) > 1:
            column, state = f"CAST({column} AS {self.dialect.text})", str(state)
        return f"{column} = {self.dialect.literal(state)}"

    def _joined_bin(
        self, variable: Variable, axis: TermAxis, alias: str
    ) -> tuple[str, str]:
        """The bin of a feature with many categories: an expression and its join."""
        column = self._column(variable.name)
        name = f"{alias}_states"
        rows = [
            [self.dialect.literal(state), str(axis.bins[code])]
            for code, state in enumerate(variable.value_states)
            if axis.bins[code] >= 0
        ]
        self.values(name, ["state", "bin"], rows)
        bins = [str(b) if b >= 0 else "NULL" for b in axis.bins]
        absent = self.dialect.is_missing(column, numeric=False)
        expression = (
            f"CASE WHEN {absent} THEN {bins[variable.missing_code]} "
            f"ELSE COALESCE({name}.bin, {bins[variable.n_states]}) END"
        )
        return expression, f"LEFT JOIN {name} ON {name}.state = {column}"

    # Sums of the terms

    def add_terms(self, last: str) -> str:
        """Add the parts that sum the terms, some at a time, and give the last name."""
        terms = self.terms.terms
        uses = [{self.bins[a.feature, a.bins] for a in term.axes} for term in terms]
        for start in range(0, len(terms), JOINS):
            group = range(start, min(start + JOINS, len(terms)))
            name = f"tanager_{1 + start // JOINS}"
            later: set[str] = set().union(*uses[start + JOINS :], set())
            carried = [*self.kept, *sorted(later)]
            added: dict[str, list[str]] = {s: [s] for s in self.sums + self.spreads}
            joins = [last]
            for t in group:
                self._add_term(t, terms[t], added, joins)
            columns = [f"{last}.{column} AS {column}" for column in carried]
            columns += [f"{' + '.join(parts)} AS {s}" for s, parts in added.items()]
            self.part(name, columns, joins)
            last = name
        return last

    def _add_term(
        self, t: int, term: ScoreTerm, added: dict[str, list[str]], joins: list[str]
    ) -> None:
        """Add the weights of one term to the expressions of the sums."""
        cell = " + ".join(
            self.bins[axis.feature, axis.bins]
            if stride == 1
            else f"{self.bins[axis.feature, axis.bins]} * {stride}"
            for axis, stride in zip(term.axes, term.strides, strict=True)
        )
        numbers: list[tuple[str, FloatArray]] = [
            (s, term.weights[:, c]) for c, s in enumerate(self.sums)
        ]
        if term.variances is not None:
            spread = term.variances
            numbers += [(s, spread[:, c]) for c, s in enumerate(self.spreads)]
        if len(term.weights) <= CASE_CELLS:
            for name, values in numbers:
                added[name].append(self._case_cell(cell, values))
            return
        table = f"tanager_w{t}"
        columns = [f"c{i}" for i in range(len(numbers))]
        stacked = np.stack([values for _, values in numbers], axis=1).tolist()
        rows = [
            [str(cell_number), *map(self.dialect.number, values)]
            for cell_number, values in enumerate(stacked)
        ]
        self.values(table, ["cell", *columns], rows)
        joins.append(f"LEFT JOIN {table} ON {table}.cell = {cell}")
        for (name, _), column in zip(numbers, columns, strict=True):
            added[name].append(f"{table}.{column}")

    def _case_cell(self, cell: str, values: FloatArray) -> str:
        """The number of a cell as one expression; NULL for no cell."""
        whens = " ".join(
            f"WHEN {row} THEN {self.dialect.number(value)}"
            for row, value in enumerate(values.tolist())
        )
        return f"CASE {cell} {whens} END"

    # The result

    def _final(self, last: str) -> str:
        """Scores, probabilities and the most probable class."""
        sums = self._shrunk_sums()
        scores = [f"tanager_p{c}" for c in range(self.terms.n_classes)]
        if len(sums) < len(scores):  # the log odds of two classes
            sums = [self.dialect.number(0.0), *sums]
        columns = [*self.kept]
        columns += [f"{s} AS {p}" for s, p in zip(sums, scores, strict=True)]
        self.part("tanager_scores", columns, [last])
        largest = self.dialect.largest(scores)
        weights = [f"EXP({p} - tanager_max) AS {p}" for p in scores]
        self.part(
            "tanager_weights",
            [*self.kept, *weights],
            [
                f"(SELECT tanager_scores.*, {largest} AS tanager_max "
                "FROM tanager_scores) AS tanager_m"
            ],
        )
        total = " + ".join(scores)
        states = self.terms.target.states
        # The largest weight is exp(0); of equal ones the first class is predicted.
        whens = [
            f"WHEN {p} = {self.dialect.number(1.0)} THEN {self.dialect.literal(state)}"
            for p, state in zip(scores, states, strict=True)
        ]
        names = self._result_names()
        result = [
            f"{alias} AS {self.dialect.identifier(name)}"
            for name, alias in zip(self.keep, self.kept, strict=True)
        ]
        result.append(
            f"CASE {' '.join(whens)} END AS {self.dialect.identifier(names[0])}"
        )
        result += [
            f"{p} / ({total}) AS {self.dialect.identifier(name)}"
            for p, name in zip(scores, names[1:], strict=True)
        ]
        body = ",\n".join(self.parts)
        return f"WITH {body}\nSELECT {_lines(result)}\nFROM tanager_weights\n"

    def _result_names(self) -> list[str]:
        """Names of the prediction and the probabilities, different from `keep`."""
        wanted = [self.dialect.probability_name(s) for s in self.terms.target.states]
        taken = {self.dialect.same_name(name) for name in self.keep}
        for name in wanted:
            if self.dialect.same_name(name) in taken:
                raise InputError(
                    f"keep has the column {name!r}, but the result has probabilities "
                    "of this name; leave it out of keep."
                )
        found = []
        for name in ("prediction", *wanted):
            ending = ""
            while self.dialect.same_name(self.dialect.cut_name(name, ending)) in taken:
                ending += "_"
            unique = self.dialect.cut_name(name, ending)
            taken.add(self.dialect.same_name(unique))
            found.append(unique)
        return found

    def _shrunk_sums(self) -> list[str]:
        """Expressions of the scores, the prior included."""
        prior = self.terms.prior
        if len(prior) > 1 and self.spreads:
            prior = prior - prior.mean()
        starts = [self.dialect.number(value) for value in prior.tolist()]
        if not self.spreads:
            return [f"{p} + {s}" for p, s in zip(starts, self.sums, strict=True)]
        scale = self.dialect.number(self.terms.variance_scale)
        mean = f"({' + '.join(self.sums)}) / {self.dialect.number(len(self.sums))}"
        centred = "" if len(prior) == 1 else f" - {mean}"
        return [
            f"{p} + ({s}{centred}) / SQRT(1 + {scale} * {v})"
            for p, s, v in zip(starts, self.sums, self.spreads, strict=True)
        ]

    # Text

    def part(self, name: str, columns: list[str], sources: list[str]) -> None:
        """Add a named SELECT."""
        most = self.dialect.max_columns
        if most is not None and len(columns) > most:
            raise CapabilityError(
                f"The query would have {len(columns):,} columns, but "
                f"{self.dialect.name} takes {most:,}. Export a model with fewer "
                "features or classes, use duckdb, which has no limit, or to_onnx."
            )
        keyword = f" {self.dialect.materialized}" if self.dialect.materialized else ""
        joins = "\n  ".join(sources)
        self.parts.append(
            f"{name} AS{keyword} (\n  SELECT {_lines(columns)}\n  FROM {joins}\n)"
        )

    def values(self, name: str, columns: list[str], rows: list[list[str]]) -> None:
        """Add a named table of values."""
        texts = [f"({', '.join(row)})" for row in rows]
        if self.dialect.name == "bigquery":  # it has no VALUES
            named = zip(rows[0], columns, strict=True)
            first = ", ".join(f"{value} AS {column}" for value, column in named)
            body = ",\n  ".join([f"STRUCT({first})", *texts[1:]])
            self.parts.append(f"{name} AS (SELECT * FROM UNNEST([\n  {body}\n]))")
            return
        body = ",\n  ".join(texts)
        self.parts.append(f"{name}({', '.join(columns)}) AS (VALUES\n  {body}\n)")


def _lines(columns: list[str]) -> str:
    return ",\n    ".join(columns)
