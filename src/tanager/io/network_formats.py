"""File formats of networks by the suffix of the file name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tanager.errors import FileFormatError, InputError
from tanager.io.bif_properties import WordRules, choose_words
from tanager.io.bif_reader import BIF_WORDS, read_bif
from tanager.io.bif_writer import write_bif
from tanager.io.model_file import ModelFile, read_model
from tanager.io.xmlbif_reader import XML_WORDS, read_xmlbif
from tanager.io.xmlbif_writer import write_xmlbif
from tanager.model.schema import Schema
from tanager.network.network import Network
from tanager.utils.atomic_write import PathLike


class NetworkFormat(NamedTuple):
    """A file format that holds one network: name, reader, writer, and its words."""

    name: str
    read: Callable[[PathLike], Network]
    write: Callable[[PathLike, Network], None]
    words: WordRules

    def renamed(self, schema: Schema) -> list[tuple[str, str]]:
        """Names and states that the file spells differently, as (old, new) pairs."""
        pairs = []
        written = choose_words(schema, self.words)
        for variable, (name, states) in zip(schema, written, strict=True):
            pairs.append((variable.name, name))
            pairs += zip(map(str, variable.states), states, strict=True)
        return [(old, new) for old, new in pairs if old != new]


_BIF = NetworkFormat("BIF", read_bif, write_bif, BIF_WORDS)
_XMLBIF = NetworkFormat("XMLBIF", read_xmlbif, write_xmlbif, XML_WORDS)

NETWORK_FORMATS: Mapping[str, NetworkFormat] = {
    ".bif": _BIF,
    **dict.fromkeys((".xmlbif", ".xml", ".bifxml"), _XMLBIF),
}
"""Formats by suffix, in small letters. All other names are those of model files."""


def network_format(path: PathLike) -> NetworkFormat | None:
    """The format that a name asks for; None for a model file.

    Examples
    --------
    >>> network_format("Alarm.BIF").name, network_format("model.json")
    ('BIF', None)
    """
    return NETWORK_FORMATS.get(Path(path).suffix.lower())


def read_any(path: PathLike) -> ModelFile:
    """Read a model file, or a BIF or XMLBIF file as one of a network alone.

    Parameters
    ----------
    path : str or path
        The suffix says what it is: ``.bif``; ``.xmlbif``, ``.xml`` or ``.bifxml``; a
        model file for any other suffix.

    Returns
    -------
    ModelFile
        With an empty `written_by` where the file does not say it.

    Raises
    ------
    FileFormatError
        If the file is damaged or of another kind than its name says.
    InputError
        If there is no such file or it cannot be read.
    """
    found = network_format(path)
    try:
        return read_model(path) if found is None else ModelFile((found.read(path),))
    except FileFormatError as error:
        suffix = Path(path).suffix.lower()
        looks = _looks_like(path)
        if looks is not None and NETWORK_FORMATS.get(looks) is not found:
            raise FileFormatError(
                f"{error} It looks like {_KINDS[looks]}, whose suffix is {looks}."
            ) from None
        if found is not None or suffix == ".json":
            raise
        raise FileFormatError(f"{error} {_SUFFIXES}") from None


def _looks_like(path: PathLike) -> str | None:
    """The suffix that the beginning of a file suggests, or None; for errors only."""
    try:
        with open(path, "rb") as file:
            start = file.read(_START)
    except OSError:
        return None
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((s for mark, s in _BEGINNINGS.items() if start.startswith(mark)), None)


def check_suffix(path: PathLike) -> None:
    """Reject a file name whose suffix does not say what to write."""
    suffix = Path(path).suffix.lower()
    if suffix != ".json" and suffix not in NETWORK_FORMATS:
        got = repr(suffix) if suffix else "none"
        raise InputError(
            f"The suffix of '{path}' must be that of a known format, got {got}. "
            f"{_SUFFIXES}"
        )


_START = 1024  # bytes of a file that are looked at
_BEGINNINGS = {b"{": ".json", b"<": ".xmlbif", b"network ": ".bif"}
_KINDS = {".json": "a model file", ".xmlbif": "an XMLBIF file", ".bif": "a BIF file"}

_SUFFIXES = (
    "Known suffixes are .json (model file), .bif (BIF), and .xmlbif, .xml and .bifxml "
    "(XMLBIF)."
)
