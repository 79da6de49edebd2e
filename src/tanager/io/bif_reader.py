"""Reading BIF, the Interchange Format for Bayesian networks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tanager.core.errors import unknown_name
from tanager.io.atomic import PathLike
from tanager.io.bif_text import BifText, Token, is_word, joined
from tanager.io.model_beside import file_content
from tanager.io.network_parts import Placed, assembled, numbers_of
from tanager.io.network_properties import (
    DeclaredVariable,
    Source,
    own_property,
    unique_words,
)
from tanager.io.probability_digits import FloatArray
from tanager.network.network import Network

MAX_BYTES = 2**28
"""Largest file that is read."""

_ROW = re.compile(r'\s*\(((?:"[^"\n]*"|[^()"{};])*)\)([^;{}()"]*);')
_NUMBERS = re.compile(r'([^;{}()"]*);')


def read_bif(path: PathLike) -> Network:
    """Read a network from a BIF file.

    Parameters
    ----------
    path : str or path
        UTF-8 text, usually ``something.bif``.

    Returns
    -------
    Network
        Variables in the order of the file. Rows that are off from one by rounding, at
        most 0.01, are divided by their sum. The target is that of a file that
        `write_bif` wrote, otherwise there is none.

    Raises
    ------
    FileFormatError
        If it is no BIF file or describes no network; with line and column.
    InputError
        If there is no such file or it cannot be read.

    Notes
    -----
    Read are ``network``, ``variable`` and ``probability`` blocks in any order, names
    with and without quotes, rows by the states of the parents, ``default`` for rows
    that are not there, and ``table``: all numbers at once, the variable's own state
    changing slowest. Also ``probability ( X A B )``, the older form of ``( X | A, B )``.
    Comments and properties of other programs are skipped, the name of the network too.

    References
    ----------
    F. G. Cozman, "The Interchange Format for Bayesian networks", 1998.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... network coin { }
    ... variable coin { type discrete [ 2 ] { heads, "on edge" }; }
    ... probability ( coin ) { table 0.99, 0.01; }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "coin.bif"
    ...     _ = path.write_text(text)
    ...     print(read_bif(path).table("coin"))
    P(coin)
     heads  on edge
    0.9900   0.0100
    """
    what = f"The BIF file '{path}'"
    return parsed_bif(file_content(Path(path), MAX_BYTES, what), what)


def parsed_bif(content: bytes, what: str) -> Network:
    """The network in the bytes of a BIF file; `what` begins error messages."""
    text = BifText(content, what)
    variables: list[DeclaredVariable] = []
    tables: list[_Table] = []
    while (token := text.take()).kind != "end":
        if token.says("network"):
            _skip_network(text)
        elif token.says("variable"):
            variables.append(_variable(text))
        elif token.says("probability"):
            tables.append(_probability(text, token))
        else:
            raise text.error(
                f"expected 'network', 'variable' or 'probability', got {token}.",
                token.place,
            )
    return assembled(variables, tables, bif_words, text)


def bif_words(texts: Sequence[str]) -> list[str]:
    """Words that stand for texts in a BIF file, without quotes and all different."""
    return unique_words(texts, is_word)


def _skip_network(text: BifText) -> None:
    """The block of the network, in which nothing has a meaning here."""
    while text.peek().is_name:
        text.take()
    text.expect("{", "after the name of the network")
    while not (token := text.take()).says("}"):
        if not token.says("property"):
            raise text.error(
                f"expected a property or '}}' in the block of the network, got {token}.",
                token.place,
            )
        text.property()


def _variable(text: BifText) -> DeclaredVariable:
    name = _name(text, "variable", "{")
    properties: dict[str, tuple[str, int]] = {}
    states: list[str] | None = None
    where = f"of the variable {name.text!r}"
    while not (token := text.take()).says("}"):
        if token.says("property"):
            content, place = text.property()
            if own := own_property(content):
                properties[own[0]] = own[1], place
        elif token.says("type") and states is None:
            states = _states(text, where)
        else:
            raise text.error(
                f"expected a type, a property or '}}' in the block {where}, got "
                f"{token}.",
                token.place,
            )
    if states is None:
        raise text.error(f"the block {where} lists no states.", name.place)
    return DeclaredVariable(name.text, states, name.place, properties)


def _name(text: BifText, what: str, end: str) -> Token:
    """The name after a keyword; several words without quotes are taken as one."""
    parts = []
    while text.peek().is_name:
        parts.append(text.take())
    if not parts:
        token = text.peek()
        raise text.error(f"expected the name of a {what}, got {token}.", token.place)
    name = Token("string", joined(parts), parts[0].place)
    text.expect(end, f"after the name of the {what} {name.text!r}")
    return name


def _states(text: BifText, where: str) -> list[str]:
    """States after the keyword ``type``."""
    kind = text.take()
    if kind.text != "discrete":
        raise text.error(
            f"the type {where} is {kind}; only 'discrete' is known.", kind.place
        )
    text.expect("[", "after 'discrete'")
    size = text.take()
    text.expect("]", f"after the number of states {where}")
    start = text.expect("{", f"before the states {where}")
    groups = text.groups("}", f"after the states {where}")
    text.expect(";", f"after the states {where}")
    if not size.text.isascii() or not size.text.isdigit() or len(size.text) > 18:
        raise text.error(f"expected the number of states, got {size}.", size.place)
    states = _as_names(groups, int(size.text))
    if not states:
        raise text.error(f"there are no states {where}.", start.place)
    if len(states) != int(size.text):
        raise text.error(
            f"expected {int(size.text)} states {where}, found {len(states)}.",
            size.place,
        )
    return states


def _as_names(groups: Sequence[list[Token]], n: int) -> list[str]:
    """Names divided by commas if that makes `n` of them, otherwise by blanks."""
    if len(groups) == n:
        return [joined(group) for group in groups]
    return [token.text for group in groups for token in group]


@dataclass
class _Table:
    """A probability block; its rows are understood when all variables are known."""

    place: int
    given: list[list[Token]]
    keys: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    whole: Placed | None = None
    default: Placed | None = None
    found_in: npt.NDArray[np.intp] | None = None

    def family(self, known: Sequence[str]) -> tuple[Placed, list[Placed]]:
        """The variable and its parents."""
        declared = set(known)
        names: list[list[Placed]] = [[]]
        for group in self.given:
            if group[0].kind == "mark":
                names.append([])
            elif len(group) == 1 or joined(group) in declared:
                names[-1].append((joined(group), group[0].place))
            else:
                names[-1] += [(token.text, token.place) for token in group]
        # Without a bar, which the format does not insist on, the first is the child.
        (child, *others), *given = names
        return child, [*others, *(placed for group in given for placed in group)]

    def rows(self, states: Sequence[Sequence[str]], source: Source) -> FloatArray:
        """Numbers of every configuration, as `DeclaredTable` asks for."""
        *parents, own = (len(names) for names in states)
        if self.whole is not None:
            return self._whole_table(parents, own, source)
        if not parents:
            return self._without_parents(own, source)
        found = self._by_states(states[:-1], source)
        n_rows = prod(parents)
        self.found_in = np.full(n_rows, -1, dtype=np.intp)
        self.found_in[found] = np.arange(len(found))
        counts = np.bincount(found, minlength=n_rows)
        if (counts > 1).any():
            twice = int(np.flatnonzero(counts > 1)[0])
            second = int(np.flatnonzero(found == twice)[1])
            raise source.error(
                f"the row ({_shown(self.keys[second])}) is given twice.",
                self.places[second],
            )
        if self.default is None and len(found) < n_rows:
            gap = np.unravel_index(int(np.flatnonzero(counts == 0)[0]), parents)
            named = ", ".join(s[int(k)] for s, k in zip(states, gap, strict=False))
            raise source.error(
                f"there is no row for ({named}), and no default.", self.place
            )
        texts = [_split(text) for text in self.values]
        _check_lengths(texts, self.places, own, source)
        rows = np.empty((n_rows, own))
        if self.default is not None:
            text, place = self.default
            default = [_split(text)]
            _check_lengths(default, [place], own, source)
            rows[...] = numbers_of(default, [place], source)
        if texts:
            rows[found] = numbers_of(texts, self.places, source)
        return rows

    def row_place(self, row: int) -> int:
        """Where the numbers of a configuration stand."""
        whole = self.whole or self.default
        if self.found_in is not None and self.found_in[row] >= 0:
            return self.places[int(self.found_in[row])]
        return self.place if whole is None else whole[1]

    def _whole_table(
        self, parents: Sequence[int], own: int, source: Source
    ) -> FloatArray:
        """The numbers after ``table``: the variable's own states change slowest."""
        assert self.whole is not None
        text, place = self.whole
        texts = [_split(text)]
        _check_lengths(texts, [place], own * prod(parents), source)
        numbers = numbers_of(texts, [place], source)
        return np.ascontiguousarray(numbers.reshape(own, -1).T)

    def _without_parents(self, own: int, source: Source) -> FloatArray:
        if self.default is None:
            raise source.error(
                "there is no 'table' with the probabilities.", self.place
            )
        text, place = self.default
        texts = [_split(text)]
        _check_lengths(texts, [place], own, source)
        return numbers_of(texts, [place], source)

    def _by_states(
        self, states: Sequence[Sequence[str]], source: Source
    ) -> npt.NDArray[np.intp]:
        """Configuration of the parents in every row that is given."""
        keys = [_key(text, len(states)) for text in self.keys]
        for key, place in zip(keys, self.places, strict=True):
            if len(key) != len(states):
                raise source.error(
                    f"expected the states of {len(states)} parents, got {len(key)}.",
                    place,
                )
        codes = []
        for k, names in enumerate(states):
            code = {name: number for number, name in enumerate(names)}
            column = [code.get(key[k], -1) for key in keys]
            if -1 in column:
                row = column.index(-1)
                message = f"{unknown_name('state', keys[row][k], names)}"
                raise source.error(message, self.places[row])
            codes.append(np.array(column, dtype=np.intp))
        return np.ravel_multi_index(codes, [len(names) for names in states])


def _probability(text: BifText, keyword: Token) -> _Table:
    text.expect("(", "after 'probability'")
    given = text.groups(")", "after the names of the variables")
    if not given or given[0][0].kind == "mark":
        raise text.error("expected the name of a variable.", keyword.place)
    start = text.expect("{", "after the names of the variables")
    table = _Table(keyword.place, given)
    while True:
        while row := _ROW.match(text.text, text.position):
            table.keys.append(row[1])
            table.values.append(row[2])
            table.places.append(row.start(1) - 1)
            text.position = row.end()
        token = text.take()
        if token.says("}"):
            break
        if token.says("property"):
            text.property()
        elif token.says("table") and table.whole is None:
            table.whole = _numbers(text, token)
        elif token.says("default") and table.default is None:
            table.default = _numbers(text, token)
        elif token.says("("):
            raise text.error(
                "expected a row: states in round brackets, numbers and ';'.",
                token.place,
            )
        elif token.kind == "end":
            raise text.error("the block that begins here does not end.", start.place)
        else:
            raise text.error(
                f"expected a row, 'table', 'default' or '}}', got {token}.",
                token.place,
            )
    if table.whole is not None and (table.keys or table.default):
        raise text.error(
            "'table' gives all numbers; it does not go with rows or 'default'.",
            table.whole[1],
        )
    if table.keys and len(given) + sum(len(g) > 1 for g in given) == 1:
        raise text.error(
            "there are rows by states of parents, but no parents.", table.places[0]
        )
    return table


def _numbers(text: BifText, keyword: Token) -> Placed:
    found = _NUMBERS.match(text.text, text.position)
    if found is None:
        raise text.error(f"expected numbers and ';' after {keyword}.", keyword.place)
    text.position = found.end()
    return found[1], keyword.place


def _split(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _check_lengths(
    texts: Sequence[Sequence[str]], places: Sequence[int], n: int, source: Source
) -> None:
    for numbers, place in zip(texts, places, strict=True):
        if len(numbers) != n:
            raise source.error(f"expected {n} numbers, found {len(numbers)}.", place)


def _key(text: str, n: int) -> list[str]:
    """States in the round brackets of a row."""
    if '"' not in text:
        parts = [" ".join(part.split()) for part in text.split(",")]
        return parts if len(parts) == n and all(parts) else _split(text)
    tokens = re.findall(r'"([^"]*)"|([^\s,"]+)', text)
    return [quoted or bare for quoted, bare in tokens]


def _shown(key: str) -> str:
    return ", ".join(_key(key, key.count(",") + 1))
