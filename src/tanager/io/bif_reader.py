"""Reading BIF, the Interchange Format for Bayesian networks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tanager.io.bif_probabilities import BifTable
from tanager.io.bif_properties import (
    DeclaredVariable,
    WordRules,
    parse_property,
    unique_words,
)
from tanager.io.bif_tokenizer import (
    BifText,
    Token,
    is_common_word,
    is_word,
    join_words,
)
from tanager.io.model_npz import file_content
from tanager.io.network_assembly import Placed, assemble_network, cell_limit
from tanager.network.network import Network
from tanager.utils.atomic_write import PathLike

MAX_BYTES = 2**28  # of a file that is read

_ROW = re.compile(r'\s*\(([^()"{};]*(?:"[^"\n]*"[^()"{};]*)*)\)([^;{}()"]*);')
_NUMBERS = re.compile(r'([^;{}()"]*);')


def read_bif(path: PathLike, *, max_cells: int | None = None) -> Network:
    """Read a network from a BIF file.

    Parameters
    ----------
    path : str or path
        UTF-8 text, usually ``something.bif``.
    max_cells : int or None, default=None
        Largest number of probabilities in all CPTs. None means the number of bytes of
        the file, but at least 1,048,576: only a file with ``default`` has more.

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
    Blocks ``network``, ``variable`` and ``probability`` may come in any order. Names
    may have quotes. Probabilities are rows by the states of the parents, ``default``
    for other rows, or ``table``: all numbers at once, the variable's own state changing
    slowest. ``probability ( X | A, B )`` may be ``probability ( X A B )``, an older
    form. The network's name, comments and properties of other programs are skipped.

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
    return parse_bif(file_content(Path(path), MAX_BYTES, what), what, max_cells)


def parse_bif(content: bytes, what: str, max_cells: int | None = None) -> Network:
    """The network in the bytes of a BIF file; `what` begins error messages."""
    most = cell_limit(len(content)) if max_cells is None else max_cells
    text = BifText(content, what)
    variables: list[DeclaredVariable] = []
    tables: list[BifTable] = []
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
    return assemble_network(variables, tables, BIF_WORDS, text, most)


def bif_words(texts: Sequence[str]) -> list[str]:
    """Words for states in a BIF file that other programs read, all different."""
    return unique_words(texts, is_common_word)


def bif_names(texts: Sequence[str]) -> list[str]:
    """Words for names in a BIF file: the same, but no whole numbers.

    Examples
    --------
    >>> bif_names(["a/b", "1", "größe"]), bif_words(["a/b", "1", "größe"])
    (['a_b', '_1', 'gr_e'], ['a_b', '1', 'gr_e'])
    """
    return unique_words(
        texts, lambda text: is_common_word(text) and not text.lstrip("-").isdigit()
    )


def _former_words(texts: Sequence[str]) -> list[str]:
    """The words of earlier versions, which not all other programs read."""
    return unique_words(texts, is_word)


BIF_WORDS = WordRules((bif_names, _former_words), (bif_words, _former_words))
"""The words of BIF."""


def _skip_network(text: BifText) -> None:
    """Skip the network block, which holds nothing of interest."""
    while text.peek().is_name:
        text.take()
    text.expect("{", "after the name of the network")
    while not (token := text.take()).says("}"):
        if not token.says("property"):
            raise text.error(
                f"expected a property or '}}' in the network's block, got {token}.",
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
            if own := parse_property(content):
                properties[own[0]] = own[1], place
        elif token.says("type"):
            if states is not None:
                raise text.error(f"there is a second type {where}.", token.place)
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
    name = Token("string", join_words(parts), parts[0].place)
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
    # Split at commas if that makes the right number, otherwise at blanks.
    states = [join_words(group) for group in groups]
    if len(groups) != int(size.text):
        states = [token.text for group in groups for token in group]
    if not states:
        raise text.error(f"there are no states {where}.", start.place)
    if len(states) != int(size.text):
        raise text.error(
            f"expected {int(size.text)} states {where}, found {len(states)}.",
            size.place,
        )
    return states


def _probability(text: BifText, keyword: Token) -> BifTable:
    text.expect("(", "after 'probability'")
    given = text.groups(")", "after the names of the variables")
    if not given or given[0][0].kind == "mark":
        raise text.error("expected the name of a variable.", keyword.place)
    start = text.expect("{", "after the names of the variables")
    table = BifTable(keyword.place, given)
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
        elif token.says("table"):
            table.whole = _numbers(text, token, table.whole)
        elif token.says("default"):
            table.default = _numbers(text, token, table.default)
        elif token.says("("):
            raise text.error(
                "expected a row: states in round brackets, numbers and ';'.",
                token.place,
            )
        elif token.kind == "end":
            raise text.error("the block that begins here does not end.", start.place)
        else:
            raise text.error(
                f"expected a row, 'table', 'default' or '}}', got {token}.", token.place
            )
    if table.whole is not None and (table.keys or table.default):
        raise text.error(
            "'table' gives all numbers; it does not go with rows or 'default'.",
            table.whole[1],
        )
    return table


def _numbers(text: BifText, keyword: Token, former: Placed | None) -> Placed:
    """The numbers after ``table`` or ``default``, of which a block has one."""
    if former is not None:
        raise text.error(f"there is a second {keyword} in this block.", keyword.place)
    found = _NUMBERS.match(text.text, text.position)
    if found is None:
        raise text.error(f"expected numbers and ';' after {keyword}.", keyword.place)
    text.position = found.end()
    return found[1], keyword.place
