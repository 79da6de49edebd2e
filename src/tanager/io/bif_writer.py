"""Writing BIF, the Interchange Format for Bayesian networks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tanager.errors import TableSizeError
from tanager.io.bif_properties import choose_words, property_texts
from tanager.io.bif_reader import BIF_WORDS
from tanager.io.probability_digits import decimals
from tanager.network.network import Network
from tanager.utils.atomic_write import PathLike, write_text

MAX_CELLS = 5_000_000  # up to which a network is written as text (some 150 MB)


def write_bif(path: PathLike, network: Network) -> None:
    """Write a network as a BIF file, which many other programs read.

    Parameters
    ----------
    path : str or path
        Where to write, usually ``something.bif``.
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
    read_bif : Reads the file; gives the same probabilities, bit by bit.

    Notes
    -----
    Names and states with blanks and the like are written as plain words, since hardly
    any program reads quoted names. The originals, cut points and the target are kept as
    properties, which `read_bif` understands and others skip. A family that is a sum of
    log tables is written as one CPT.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> coin = Network.build({"a coin": [0, 1]}, {"a coin": [0.25, 0.75]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "coin.bif"
    ...     write_bif(path, coin)
    ...     print(path.read_text(), end="")
    network unknown {
    }
    variable a_coin {
      type discrete [ 2 ] { 0, 1 };
      property tanager_name = "'a coin'";
      property tanager_states = "[0, 1]";
    }
    probability ( a_coin ) {
      table 0.25, 0.75;
    }
    """
    write_text(path, bif_text(network))


def bif_text(network: Network) -> str:
    """The text of the file that `write_bif` writes."""
    check_size(network)
    written = choose_words(network.schema, BIF_WORDS)
    lines = ["network unknown {", "}"]
    for v, variable in enumerate(network.schema):
        name, states = written[v]
        lines.append(f"variable {name} {{")
        lines.append(f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};")
        is_target = v == network.schema.target
        kept = property_texts(variable, name, states, is_target=is_target)
        lines += [f'  property {key} = "{text}";' for key, text in kept.items()]
        lines.append("}")
    for v, rows in enumerate(table_texts(network)):
        parents = [written[p] for p in network.structure.parents[v]]
        given = ", ".join(parent for parent, _ in parents)
        head = f"{written[v][0]} | {given}" if parents else written[v][0]
        lines.append(f"probability ( {head} ) {{")
        for key, row in zip(product(*(s for _, s in parents)), rows, strict=True):
            start = f"({', '.join(key)})" if key else "table"
            lines.append(f"  {start} {', '.join(row)};")
        lines.append("}")
    return "\n".join([*lines, ""])


def table_texts(network: Network) -> Iterator[list[list[str]]]:
    """The rows of every variable's table as texts, the last parent changing fastest."""
    families = enumerate(network.structure.families)
    return decimals([network.parameters.log_family(v, f) for v, f in families])


def check_size(network: Network) -> None:
    """Refuse a network whose tables would be too long a text."""
    n_states = network.schema.n_states
    cells = sum(
        int(n_states[list(family)].prod(dtype=object))
        for family in network.structure.families
    )
    if cells > MAX_CELLS:
        raise TableSizeError(
            f"The network has {cells:,} probabilities, more than the {MAX_CELLS:,} "
            "that are written as text; save it as a model file (.json)."
        )
