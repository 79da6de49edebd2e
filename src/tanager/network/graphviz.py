"""A network's graph as text for Graphviz."""

from __future__ import annotations

from tanager.model.schema import Schema
from tanager.model.structure import Structure


def dot_text(schema: Schema, structure: Structure) -> str:
    """The graph in the DOT language; the target is a double circle.

    Examples
    --------
    >>> from tanager.model import Variable
    >>> schema = Schema((Variable("x", (0, 1)), Variable("y", (0, 1))), target=1)
    >>> print(dot_text(schema, Structure(((1,), ()), target=1)))
    digraph network {
      "x";
      "y" [shape=doublecircle];
      "y" -> "x";
    }
    """
    lines = ["digraph network {"]
    for index, variable in enumerate(schema):
        mark = " [shape=doublecircle]" if index == schema.target else ""
        lines.append(f"  {_quoted(variable.name)}{mark};")
    for parent, child in structure.arcs:
        names = schema.names
        lines.append(f"  {_quoted(names[parent])} -> {_quoted(names[child])};")
    return "\n".join([*lines, "}"])


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
