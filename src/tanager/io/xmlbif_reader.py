"""Reading XMLBIF 0.3, the Interchange Format in XML."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from tanager.errors import FileFormatError
from tanager.io.bif_properties import (
    DeclaredVariable,
    Source,
    WordRules,
    brief,
    parse_property,
    unique_words,
)
from tanager.io.model_npz import file_content
from tanager.io.network_assembly import (
    Placed,
    assemble_network,
    cell_limit,
    parse_numbers,
)
from tanager.network.network import Network
from tanager.types import FloatArray
from tanager.utils.atomic_write import PathLike

MAX_BYTES = 2**28  # of a file that is read

MAX_ATTRIBUTES = 32
"""Attributes that a document type may declare; that of XMLBIF has two."""

_INSIDE = {
    "": ("BIF",),
    "BIF": ("NETWORK",),
    "NETWORK": ("NAME", "PROPERTY", "VARIABLE", "DEFINITION", "PROBABILITY"),
    "VARIABLE": ("NAME", "OUTCOME", "VALUE", "PROPERTY"),
    "DEFINITION": ("FOR", "GIVEN", "TABLE", "PROPERTY"),
    "PROBABILITY": ("FOR", "GIVEN", "TABLE", "PROPERTY"),
}
"""Elements that others may have; those that are not here hold text alone."""

_ODD = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_xmlbif(path: PathLike) -> Network:
    """Read a network from an XMLBIF file.

    Parameters
    ----------
    path : str or path
        Usually ``something.xmlbif``, ``.xml`` or ``.bifxml``.

    Returns
    -------
    Network
        As `read_bif` gives it.

    Raises
    ------
    FileFormatError
        If it is no XMLBIF file or describes no network; with line and column.
    InputError
        If there is no such file or it cannot be read.

    Notes
    -----
    Reads version 0.3, also with the older element names ``VALUE`` and ``PROBABILITY``.
    A document type that declares entities is refused, and nothing outside the file is
    ever opened. The network's name, comments and properties of other programs are
    skipped.

    References
    ----------
    F. G. Cozman, "The Interchange Format for Bayesian networks", 1998.

    Examples
    --------
    >>> import tempfile
    >>> text = '''<?xml version="1.0"?>
    ... <BIF VERSION="0.3"><NETWORK><NAME>coin</NAME>
    ... <VARIABLE TYPE="nature"><NAME>coin</NAME>
    ...   <OUTCOME>heads</OUTCOME><OUTCOME>on edge</OUTCOME></VARIABLE>
    ... <DEFINITION><FOR>coin</FOR><TABLE>0.99 0.01</TABLE></DEFINITION>
    ... </NETWORK></BIF>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "coin.xmlbif"
    ...     _ = path.write_text(text)
    ...     print(read_xmlbif(path).table("coin"))
    P(coin)
     heads  on edge
    0.9900   0.0100
    """
    what = f"The XMLBIF file '{path}'"
    return parse_xmlbif(file_content(Path(path), MAX_BYTES, what), what)


def parse_xmlbif(content: bytes, what: str) -> Network:
    """The network in the bytes of an XMLBIF file; `what` begins error messages."""
    if not content.strip():
        raise FileFormatError(f"{what} is empty.")
    reader = _Reader(what)
    reader.feed(content)
    most = cell_limit(len(content))
    return assemble_network(reader.variables, reader.tables, XML_WORDS, reader, most)


def xml_words(texts: Sequence[str]) -> list[str]:
    """Texts as they can stand in an XML file, all different."""
    return unique_words(texts, is_text)


XML_WORDS = WordRules((xml_words,), (xml_words,))
"""The words of XMLBIF."""


def is_text(text: str) -> bool:
    """Whether XML keeps a text: no control characters, no outer blanks."""
    blanks = " ".join(text.split()) == text
    return bool(text) and blanks and _ODD.search(text) is None


@dataclass
class _Table:
    """A definition; its numbers are parsed when all variables are known."""

    place: int
    names: dict[str, list[Placed]] = field(
        default_factory=lambda: {"FOR": [], "GIVEN": []}
    )
    numbers: Placed | None = None

    def family(self, known: Container[str]) -> tuple[Placed, list[Placed]]:
        """The variable and its parents."""
        del known
        return self.names["FOR"][0], self.names["GIVEN"]

    @property
    def order(self) -> str:
        """A sentence about the order of the numbers, where it is easily mistaken."""
        if not self.names["GIVEN"]:
            return ""
        return (
            " The numbers are read with the state of the variable itself changing "
            "fastest."
        )

    def rows(self, states: Mapping[str, Sequence[str]], source: Source) -> FloatArray:
        """Probabilities of every configuration; see `DeclaredTable`."""
        text, place = self.numbers or ("", self.place)
        sizes = [len(names) for names in states.values()]
        texts = text.split()
        if len(texts) != prod(sizes):
            raise source.error(
                f"expected {prod(sizes):,} numbers, found {len(texts):,}.", place
            )
        return parse_numbers([texts], [place], source).reshape(-1, sizes[-1])

    def row_place(self, row: int) -> int:
        """Where the table is; its rows have no places."""
        del row
        return self.place if self.numbers is None else self.numbers[1]


class _Reader:
    """Handles XML events; only known elements are allowed, in their places."""

    def __init__(self, what: str) -> None:
        self.variables: list[DeclaredVariable] = []
        self.tables: list[_Table] = []
        self._what = what
        self._open: list[str] = [""]
        self._text: list[str] = []
        self._places: list[tuple[int, int]] = [(1, 1)]
        self._began = 0
        self._names: list[Placed] = []
        self._states: list[str] = []
        self._properties: dict[str, tuple[str, int]] = {}
        self._table = _Table(0)
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append
        self._parser.EntityDeclHandler = self._entity
        self._parser.SkippedEntityHandler = self._entity
        self._parser.AttlistDeclHandler = self._attribute
        self._n_attributes = 0

    def feed(self, content: bytes) -> None:
        """Read the whole file."""
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            reason = f"it is not XML: {expat.errors.messages[error.code]}."
            if error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]:
                reason = "it is cut short: an element has no end."
            where = f"line {error.lineno}, column {error.offset + 1}"
            raise FileFormatError(f"{self._what}, {where}: {reason}") from None
        except (LookupError, ValueError) as error:
            if isinstance(error, FileFormatError):
                raise
            raise FileFormatError(f"{self._what} cannot be decoded: {error}.") from None

    def error(self, message: str, place: int) -> FileFormatError:
        """An error with line and column, to be raised."""
        line, column = self._places[place]
        where = f"{self._what}, line {line}, column {column}"
        return FileFormatError(f"{where}: {brief(message)}")

    def _here(self) -> int:
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber
        self._places.append((line, column + 1))
        return len(self._places) - 1

    def _entity(self, *_: object) -> NoReturn:
        raise self.error(
            "entities are declared or used, which XMLBIF does not need and which are "
            "not read.",
            self._here(),
        )

    def _attribute(self, *_: object) -> None:
        # The parser adds the default values to every element, one by one.
        self._n_attributes += 1
        if self._n_attributes > MAX_ATTRIBUTES:
            raise self.error(
                f"more than {MAX_ATTRIBUTES} attributes are declared; XMLBIF has two.",
                self._here(),
            )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        outer = self._open[-1]
        place = self._here()
        if name not in _INSIDE.get(outer, ()):
            where = f"inside <{outer}>" if outer else "as the outermost element"
            known = " or ".join(f"<{inner}>" for inner in _INSIDE.get(outer, ()))
            expected = known or "text alone"
            raise self.error(f"<{name}> {where}; expected {expected}.", place)
        if "".join(self._text).strip():
            raise self.error(f"there is text between the elements in <{outer}>.", place)
        self._text.clear()
        self._open.append(name)
        self._began = place
        if name == "VARIABLE":
            kind = attributes.get("TYPE", "nature")
            if kind != "nature":
                raise self.error(
                    f"a variable of type {kind!r}; only 'nature' is known.", place
                )
            self._names, self._states, self._properties = [], [], {}
        elif name in ("DEFINITION", "PROBABILITY"):
            self._table = _Table(place)

    def _end(self, name: str) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        if text and name in _INSIDE:
            message = f"there is text between the elements in <{name}>."
            raise self.error(message, self._here())
        self._open.pop()
        outer = self._open[-1]
        placed = text, self._began
        if name == "VARIABLE":
            self._end_variable()
        elif name in ("DEFINITION", "PROBABILITY"):
            self._end_table()
        elif outer == "VARIABLE" and name == "PROPERTY":
            if own := parse_property(text):
                self._properties[own[0]] = own[1], self._began
        elif name == "PROPERTY" or outer == "NETWORK":
            return
        elif name in ("NAME", "OUTCOME", "VALUE", "FOR", "GIVEN") and not text:
            raise self.error(f"<{name}> is empty; expected a name.", self._began)
        elif name == "NAME":
            self._names.append(placed)
        elif name in ("OUTCOME", "VALUE"):
            self._states.append(text)
        elif name in ("FOR", "GIVEN"):
            self._table.names[name].append(placed)
        elif name == "TABLE":
            if self._table.numbers is not None:
                raise self.error("a definition has two tables.", self._began)
            self._table.numbers = placed

    def _end_variable(self) -> None:
        place = self._here()
        if len(self._names) != 1 or not self._states:
            missing = "one name" if len(self._names) != 1 else "at least one <OUTCOME>"
            raise self.error(f"the variable that ends here needs {missing}.", place)
        name, place = self._names[0]
        self.variables.append(
            DeclaredVariable(name, self._states, place, self._properties)
        )

    def _end_table(self) -> None:
        table = self._table
        if len(table.names["FOR"]) != 1 or table.numbers is None:
            missing = "a <TABLE>" if table.numbers is None else "exactly one <FOR>"
            raise self.error(f"this definition needs {missing}.", table.place)
        self.tables.append(table)
