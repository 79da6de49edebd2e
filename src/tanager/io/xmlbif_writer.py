"""Writing XMLBIF 0.3, the Interchange Format in XML."""

from __future__ import annotations

from xml.sax.saxutils import escape

from tanager.io.bif_properties import choose_words, property_texts
from tanager.io.bif_writer import check_size, table_texts
from tanager.io.xmlbif_reader import XML_WORDS
from tanager.network.network import Network
from tanager.utils.atomic_write import PathLike, write_text


def write_xmlbif(path: PathLike, network: Network) -> None:
    """Write a network as an XMLBIF file, which many other programs read.

    Parameters
    ----------
    path : str or path
        Where to write, usually ``something.xmlbif``, ``.xml`` or ``.bifxml``.
    network : Network
        Variables, arcs and tables.

    Raises
    ------
    InputError
        If the file cannot be written.
    TableSizeError
        If the tables are too large for a text.

    See Also
    --------
    read_xmlbif : Reads the file; gives the same probabilities, bit by bit.

    Notes
    -----
    Names and states are written as they are; the rest as in `write_bif`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> coin = Network.build({"a coin": [0, 1]}, {"a coin": [0.25, 0.75]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "coin.xmlbif"
    ...     write_xmlbif(path, coin)
    ...     print(path.read_text(), end="")
    <?xml version="1.0" encoding="UTF-8"?>
    <BIF VERSION="0.3">
    <NETWORK>
    <NAME>unknown</NAME>
    <VARIABLE TYPE="nature">
      <NAME>a coin</NAME>
      <OUTCOME>0</OUTCOME>
      <OUTCOME>1</OUTCOME>
      <PROPERTY>tanager_states = [0, 1]</PROPERTY>
    </VARIABLE>
    <DEFINITION>
      <FOR>a coin</FOR>
      <TABLE>
        0.25 0.75
      </TABLE>
    </DEFINITION>
    </NETWORK>
    </BIF>
    """
    write_text(path, xmlbif_text(network))


def xmlbif_text(network: Network) -> str:
    """The text of the file that `write_xmlbif` writes."""
    check_size(network)
    schema = network.schema
    written = choose_words(schema, XML_WORDS)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">']
    lines += ["<NETWORK>", "<NAME>unknown</NAME>"]
    for v, variable in enumerate(schema):
        name, states = written[v]
        lines += ['<VARIABLE TYPE="nature">', _element("NAME", name)]
        lines += [_element("OUTCOME", state) for state in states]
        kept = property_texts(variable, name, states, is_target=v == schema.target)
        lines += [_element("PROPERTY", f"{key} = {t}") for key, t in kept.items()]
        lines.append("</VARIABLE>")
    for v, rows in enumerate(table_texts(network)):
        lines += ["<DEFINITION>", _element("FOR", written[v][0])]
        parents = network.structure.parents[v]
        lines += [_element("GIVEN", written[p][0]) for p in parents]
        lines += ["  <TABLE>", *(f"    {' '.join(row)}" for row in rows), "  </TABLE>"]
        lines.append("</DEFINITION>")
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def _element(name: str, text: str) -> str:
    return f"  <{name}>{escape(text)}</{name}>"
