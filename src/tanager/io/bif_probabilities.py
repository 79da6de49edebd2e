"""Probability blocks of a BIF file."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from tanager.io.bif_properties import Source
from tanager.io.bif_tokenizer import Token, join_words
from tanager.io.network_assembly import Placed, parse_numbers, unknown_text
from tanager.types import FloatArray, IndexArray


@dataclass
class BifTable:
    """A probability block; its rows are parsed when all variables are known.

    `given` holds the tokens in the round brackets, split at commas; the bar is a group.
    `keys` and `values` are the parent states and the numbers of every row, `places`
    where the rows begin. `whole` and `default` are the numbers after ``table`` and
    ``default``. `found_in` maps configurations to rows, -1 for none, once `rows` was
    called.
    """

    place: int
    given: list[list[Token]]
    keys: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    whole: Placed | None = None
    default: Placed | None = None
    found_in: IndexArray | None = None

    def family(self, known: Container[str]) -> tuple[Placed, list[Placed]]:
        """The variable and its parents."""
        names: list[list[Placed]] = [[]]
        for group in self.given:
            if group[0].kind == "mark":
                names.append([])
            elif len(group) == 1 or join_words(group) in known:
                names[-1].append((join_words(group), group[0].place))
            else:
                names[-1] += [(token.text, token.place) for token in group]
        # Without a bar, which the format does not insist on, the first is the child.
        (child, *others), *given = names
        return child, [*others, *(placed for group in given for placed in group)]

    @property
    def order(self) -> str:
        """A sentence about the order of the numbers, where it is easily mistaken."""
        if self.whole is None or len(self.given) == 1:
            return ""
        return (
            " The numbers after 'table' are read with the state of the variable itself "
            "changing slowest."
        )

    def rows(self, states: Mapping[str, Sequence[str]], source: Source) -> FloatArray:
        """Probabilities of every configuration; see `DeclaredTable`."""
        *parents, child = states
        sizes = [len(states[name]) for name in parents]
        own, n_rows = len(states[child]), prod(sizes)
        if self.whole is not None:
            numbers = _numbers(self.whole, own * n_rows, source)
            return np.ascontiguousarray(numbers.reshape(own, n_rows).T)
        if not parents and self.keys:
            raise source.error(
                f"{child!r} has no parents, but here are numbers for states of some.",
                self.places[0],
            )
        found = self._configurations({name: states[name] for name in parents}, source)
        counts = np.bincount(found, minlength=n_rows)
        if (counts > 1).any():
            twice = int(np.flatnonzero(counts > 1)[0])
            second = int(np.flatnonzero(found == twice)[1])
            raise source.error(
                f"the row {_row_text(states, sizes, twice)} is given twice.",
                self.places[second],
            )
        if self.default is None and len(found) < n_rows:
            row = _row_text(states, sizes, int(np.flatnonzero(counts == 0)[0]))
            missing = f"there is no row {row} and no default."
            if not parents:
                missing = f"there is no 'table' with the probabilities of {child!r}."
            raise source.error(missing, self.place)
        self.found_in = np.full(n_rows, -1, dtype=np.intp)
        self.found_in[found] = np.arange(len(found))
        rows = np.empty((n_rows, own))
        if self.default is not None:
            rows[...] = _numbers(self.default, own, source)
        if self.values:
            texts = [_split(text) for text in self.values]
            for numbers_in_row, place in zip(texts, self.places, strict=True):
                _check_length(numbers_in_row, own, place, source)
            rows[found] = parse_numbers(texts, self.places, source)
        return rows

    def row_place(self, row: int) -> int:
        """Where the numbers of a configuration are."""
        if self.found_in is not None and self.found_in[row] >= 0:
            return self.places[int(self.found_in[row])]
        placed = self.whole or self.default
        return self.place if placed is None else placed[1]

    def _configurations(
        self, states: Mapping[str, Sequence[str]], source: Source
    ) -> IndexArray:
        """The configuration of the parents of every row."""
        if not self.keys:
            return np.empty(0, dtype=np.intp)
        keys = [_key(text, len(states)) for text in self.keys]
        for key, place in zip(keys, self.places, strict=True):
            if len(key) != len(states):
                raise source.error(
                    f"expected one state of each of {', '.join(map(repr, states))}, "
                    f"got {len(key)} states.",
                    place,
                )
        codes = []
        for k, (name, known) in enumerate(states.items()):
            code = {state: number for number, state in enumerate(known)}
            column = [code.get(key[k], -1) for key in keys]
            if -1 in column:
                row = column.index(-1)
                message = unknown_text(f"state of {name!r}:", keys[row][k], known)
                raise source.error(message, self.places[row])
            codes.append(np.array(column, dtype=np.intp))
        return np.ravel_multi_index(codes, [len(known) for known in states.values()])


def _row_text(
    states: Mapping[str, Sequence[str]], sizes: Sequence[int], row: int
) -> str:
    """The states of a configuration of the parents, in round brackets."""
    codes = [int(k) for k in np.unravel_index(row, sizes)] if sizes else []
    return f"({', '.join(s[k] for s, k in zip(states.values(), codes, strict=False))})"


def _numbers(placed: Placed, n: int, source: Source) -> FloatArray:
    """The `n` numbers of a text."""
    text, place = placed
    texts = _split(text)
    _check_length(texts, n, place, source)
    return parse_numbers([texts], [place], source).ravel()


def _split(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _check_length(texts: Sequence[str], n: int, place: int, source: Source) -> None:
    if len(texts) != n:
        raise source.error(f"expected {n:,} numbers, found {len(texts):,}.", place)


def _key(text: str, n: int) -> list[str]:
    """States in the round brackets of a row."""
    if '"' not in text:
        parts = [" ".join(part.split()) for part in text.split(",")]
        return parts if len(parts) == n and all(parts) else _split(text)
    tokens = re.findall(r'"([^"]*)"|([^\s,"]+)', text)
    return [quoted or bare for quoted, bare in tokens]
