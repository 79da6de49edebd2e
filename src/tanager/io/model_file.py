"""Model files: networks and settings of classifiers, as versioned JSON."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from tanager._version import __version__
from tanager.errors import FileFormatError, InputError
from tanager.io.checked_fields import (
    ENSEMBLE_OF_SUMS_VERSION,
    ENSEMBLE_VERSION,
    ENSEMBLE_WITH_MISSING_VERSION,
    FACTOR_ERRORS_VERSION,
    FACTOR_VARIANCES_VERSION,
    FACTORS_VERSION,
    FORMAT,
    MISSING_VERSION,
    NETWORK_VERSION,
    SUMS_VERSION,
    UNITS_VERSION,
    check_document,
    check_kind,
    member_name,
    read_members,
    read_schema,
    read_scopes,
    read_structure,
)
from tanager.io.factor_document import (
    factor_entries,
    factor_vector,
    fill_factors,
    has_inline_factors,
    inline_factors,
    make_network,
    read_factors,
    read_variance_scale,
    split_factors,
)
from tanager.io.json_text import decode_json, encode_json
from tanager.io.model_npz import (
    file_content,
    find_own_tables,
    remove_former,
    remove_orphans,
    tables_content,
    tables_path,
)
from tanager.io.stored_cpts import (
    FREE_CELLS,
    MAX_FAMILY,
    digest,
    fill_entries,
    has_numbers,
    inline_rows,
    pack_arrays,
    pack_vector,
    place_tables,
    split_vector,
    table_entries,
    unpack_arrays,
)
from tanager.model.layout import MAX_CELLS, MAX_SUMMED_CELLS, FamilyLayout, Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.network import AnyNetwork, LogLinearNetwork, Network
from tanager.types import FloatArray
from tanager.utils.atomic_write import PathLike, check_writable, replacing, write_bytes

INLINE_CELLS = 200_000  # up to which the CPTs are in the JSON file itself
MAX_JSON_BYTES = 2**28  # of a file that is read
MAX_NPZ_BYTES = 2**30
SUMMED_PER_CELL = 32  # configurations of a sum for every cell that a file may have


@dataclass(frozen=True, eq=False)
class ModelFile:
    """Content of a model file.

    Parameters
    ----------
    networks : tuple of Network or of LogLinearNetwork
        One network, or the members of an ensemble, over the same variables; their
        probabilities are those that were written, bit by bit.
    weights : tuple of float or None
        The members' weights; None if there is one network and no ensemble.
    classifier : dict or None
        Settings of the classifier, as plain data.
    version : int
        Layout of the document, its ``schema_version``.
    written_by : str
        The program that wrote it.
    """

    networks: tuple[AnyNetwork, ...]
    weights: tuple[float, ...] | None = None
    classifier: dict[str, Any] | None = None
    version: int = NETWORK_VERSION
    written_by: str = ""

    @property
    def network(self) -> AnyNetwork:
        """The network of a file that holds one alone."""
        if self.weights is not None:
            raise InputError(
                f"The model file holds an ensemble of {len(self.networks)} network(s); "
                "choose one from `networks`."
            )
        return self.networks[0]


def write_model(
    path: PathLike, network: AnyNetwork, classifier: dict[str, Any] | None = None
) -> None:
    """Write a network, and the settings of a classifier, as a JSON file.

    Large CPTs go to an npz file in the same folder, named after the JSON file and the
    SHA-256 of the CPTs: ``model.json-0123456789ab.npz``. It is complete before the
    JSON file that names it takes its place, and the npz file of the model that was
    there before is removed after that. So at any moment `path` is either the old
    model or the new one, whole.

    Parameters
    ----------
    path : str or path
        Where to write, usually ``something.json``.
    network : Network or LogLinearNetwork
        The variables, arcs and tables, or the factors.
    classifier : dict or None, default=None
        Plain data: strings, finite numbers, bools, None, lists and dicts.

    Raises
    ------
    InputError
        If the file cannot be written, or something in it has no JSON form.

    Warns
    -----
    UserWarning
        If the model is written, but the npz file of the one that was there before
        cannot be removed.

    See Also
    --------
    write_ensemble : Several networks.
    read_model : Reads the file.
    """
    if not network.has_cpts:
        _write_factors(Path(path), network, classifier)
        return
    tables = table_entries(network)
    version = NETWORK_VERSION
    if _has_missing_states(network.schema):
        version = MISSING_VERSION
    elif _has_sums(network):
        version = SUMS_VERSION
    document = _document(network.schema, version, {"tables": tables})
    _write(Path(path), document, [network], [tables], classifier)


def write_ensemble(
    path: PathLike,
    networks: Sequence[AnyNetwork],
    weights: Sequence[float],
    classifier: dict[str, Any] | None = None,
) -> None:
    """Write several networks over the same variables as one model file.

    Parameters
    ----------
    path : str or path
        Where to write, as in `write_model`.
    networks : sequence of Network
        The members; at least one, all with the same schema.
    weights : sequence of float
        A weight above 0 for every member.
    classifier : dict or None, default=None
        Plain data, as in `write_model`.

    Raises
    ------
    InputError
        As in `write_model`, and for members that do not belong together.

    See Also
    --------
    write_model : One network.
    read_model : Reads the file.
    """
    plain = [float(weight) for weight in weights]
    members = [network for network in networks if network.has_cpts]
    if not members or not len(networks) == len(members) == len(plain):
        raise InputError(
            "An ensemble has at least one Network and a weight for each, got "
            f"{len(members)} of {len(networks)} networks and {len(plain)} weights."
        )
    if any(network.schema != members[0].schema for network in members):
        raise InputError(
            "The networks of an ensemble must have the same variables and states."
        )
    if not isfinite(sum(plain)) or any(weight <= 0 for weight in plain):
        raise InputError(
            "The weights of an ensemble must be above 0 with a finite sum, got "
            f"{plain}."
        )
    tables = [table_entries(network) for network in members]
    entries = [
        {"weight": weight, "tables": own}
        for weight, own in zip(plain, tables, strict=True)
    ]
    version = ENSEMBLE_VERSION
    if _has_missing_states(members[0].schema):
        version = ENSEMBLE_WITH_MISSING_VERSION
    elif any(map(_has_sums, members)):
        version = ENSEMBLE_OF_SUMS_VERSION
    document = _document(members[0].schema, version, {"members": entries})
    _write(Path(path), document, members, tables, classifier)


def read_model(path: PathLike) -> ModelFile:
    """Read a model file without trusting it; nothing in it is executed.

    Parameters
    ----------
    path : str or path
        A file that `write_model` or `write_ensemble` of this or an earlier version
        wrote.

    Returns
    -------
    ModelFile
        The networks, and the classifier's data.

    Raises
    ------
    FileFormatError
        If the file is not a model file, damaged, inconsistent, too large, or of a
        newer version; the message says which.
    InputError
        If there is no such file or it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> coin = Network.build({"coin": ["heads", "tails"]}, {"coin": [0.5, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_model(Path(folder) / "coin.json", coin)
    ...     read_model(Path(folder) / "coin.json").network
    <Network: 1 variables, 0 arcs, 1 parameters>
    """
    path = Path(path)
    what = f"The model file '{path}'"
    content = file_content(path, MAX_JSON_BYTES, what)
    document = decode_json(content, what)
    check_kind(document, what)
    check_document(document, what)
    schema = read_schema(document, what)
    if "factors" in document:
        network = _read_factors(document, schema, path, what)
        return _make_file((network,), None, document)
    entries, weights = read_members(document, what)
    wheres = [what]
    if weights is not None:
        wheres = [member_name(what, number + 1) for number in range(len(entries))]
    structures = [
        read_structure(tables, schema, document["schema_version"], where)
        for tables, where in zip(entries, wheres, strict=True)
    ]
    layouts = _layouts(entries, schema, structures, wheres, what)
    vectors = _packed_vectors(document, path, entries, layouts, what)
    n_bytes = len(content) + sum(vector.nbytes for vector in vectors or ())
    _check_sums(layouts, n_bytes, what)
    networks = []
    for number, where in enumerate(wheres):
        structure, layout = structures[number], layouts[number]
        if vectors is None:
            rows = inline_rows(entries[number], schema, structure, layout, where)
        else:
            rows = split_vector(vectors[number], structure, layout)
        log_theta = place_tables(rows, schema, structure, layout, where)
        networks.append(Network(schema, structure, Parameters(layout, log_theta)))
    return _make_file(tuple(networks), weights, document)


def _make_file(
    networks: tuple[AnyNetwork, ...],
    weights: tuple[float, ...] | None,
    document: dict[str, Any],
) -> ModelFile:
    """The content of a file, with what its document says of the whole."""
    return ModelFile(
        networks,
        weights,
        document["classifier"],
        document["schema_version"],
        document["written_by"],
    )


def _read_factors(
    document: dict[str, Any], schema: Schema, path: Path, what: str
) -> LogLinearNetwork:
    """The log-linear network of a document."""
    prior, factors = read_factors(document, schema, what)
    n_classes = schema.n_classes
    packed = document.get("tables_file")
    if packed is None:
        numbers = inline_factors(document, factors, n_classes, what)
    else:
        if has_inline_factors(document):
            raise FileFormatError(f"{what} has factors both inside and in an npz file.")
        n_cells = sum(sum(f.sizes(n_classes).values()) for f in factors)
        content = tables_content(packed, path, MAX_NPZ_BYTES, what)
        vector = unpack_arrays(*content, n_cells=n_cells)
        numbers = split_factors(vector, factors, n_classes)
    scale = read_variance_scale(document, what)
    return make_network(schema, prior, factors, numbers, scale, what)


def _document(schema: Schema, version: int, content: dict[str, Any]) -> dict[str, Any]:
    """The document, but for what is known only when the tables are."""
    target = None if schema.target is None else schema.target_variable.name
    fields = ["name", "states", "ordered", "cuts"]
    if any(variable.unit is not None for variable in schema):
        version = UNITS_VERSION
    if version >= MISSING_VERSION:
        fields.append("missing_state")
    if version >= UNITS_VERSION:
        fields.append("unit")
    return {
        "format": FORMAT,
        "schema_version": version,
        "written_by": f"tanager {__version__}",
        "target": target,
        "variables": [{field: getattr(v, field) for field in fields} for v in schema],
        **content,
    }


def _has_missing_states(schema: Schema) -> bool:
    """Whether a variable has a state of a missing value: not before version 5."""
    return any(variable.missing_state for variable in schema)


def _has_sums(network: Network) -> bool:
    """Whether some family is a sum of tables, which versions 1 and 2 cannot hold."""
    return not network.parameters.layout.is_full(network.structure)


def _write(
    path: Path,
    document: dict[str, Any],
    networks: Sequence[Network],
    entries: Sequence[dict[str, dict[str, Any]]],
    classifier: dict[str, Any] | None,
) -> None:
    """Write the document with the CPTs in its `entries` or in an npz file."""
    if any(np.isnan(network.parameters.log_theta).any() for network in networks):
        raise InputError("The network has tables with NaN, so it is not written.")

    def fill_in() -> None:
        for network, tables in zip(networks, entries, strict=True):
            fill_entries(tables, network)

    n_cells = sum(network.parameters.layout.n_cells for network in networks)
    _write_document(
        path, document, classifier, n_cells, fill_in, lambda: pack_arrays(networks)
    )


def _write_factors(
    path: Path, network: LogLinearNetwork, classifier: dict[str, Any] | None
) -> None:
    """Write a log-linear network, with its factors in the document or an npz file."""
    entries = factor_entries(network)
    log_prior = network.factors.log_prior.tolist()
    content: dict[str, Any] = {"log_prior": log_prior, "factors": entries}
    version = FACTOR_ERRORS_VERSION if network.factors.has_errors else FACTORS_VERSION
    if network.factors.variance_scale > 0.0:
        version = FACTOR_VARIANCES_VERSION
        content["variance_scale"] = network.factors.variance_scale
    document = _document(network.schema, version, content)
    vector = factor_vector(network)
    if not np.isfinite(vector).all():
        raise InputError("The network has weights with NaN, so it is not written.")
    _write_document(
        path,
        document,
        classifier,
        len(vector),
        lambda: fill_factors(entries, network),
        lambda: pack_vector(vector),
    )


def _write_document(
    path: Path,
    document: dict[str, Any],
    classifier: dict[str, Any] | None,
    n_cells: int,
    fill_in: Callable[[], None],
    pack: Callable[[], bytes],
) -> None:
    """Write a document, with its numbers filled in or packed in an npz file."""
    check_writable(path)
    # Through a symbolic link the JSON file is written where the link leads; the tables
    # belong there too.
    place = Path(os.path.realpath(path))
    former = find_own_tables(place, MAX_JSON_BYTES)
    remove_orphans(place, former, MAX_JSON_BYTES)
    if n_cells <= INLINE_CELLS:
        fill_in()
        document["classifier"] = classifier
        write_bytes(path, encode_json(document))
        remove_former(former, None, path)
        return
    if n_cells > MAX_CELLS:
        raise InputError(
            f"The networks have {n_cells:,} table entries in all, more than the "
            f"{MAX_CELLS:,} that a model file may hold; use fewer networks or fewer "
            "bins, or pickle the classifier."
        )
    arrays = pack()
    sha256 = digest(arrays)
    npz = tables_path(place, sha256)
    document["tables_file"] = {"name": npz.name, "sha256": sha256}
    document["classifier"] = classifier
    content = encode_json(document)
    is_new = not npz.exists()
    try:
        with replacing(path) as json_file:
            json_file.write(content)
            json_file.flush()  # says what `npz` is for, should this process be killed
            write_bytes(npz, arrays)
            if former is not None and former.is_file():
                shutil.copymode(former, npz)
    except InputError:
        # Report the failure itself, not that a file is left over.
        if is_new and find_own_tables(place, MAX_JSON_BYTES) != npz:
            with suppress(OSError):
                npz.unlink(missing_ok=True)
        raise
    remove_former(former, npz, path)


def _layouts(
    entries: Sequence[dict[str, Any]],
    schema: Schema,
    structures: Sequence[Structure],
    wheres: Sequence[str],
    what: str,
) -> list[FamilyLayout]:
    """The layouts of all networks, refused if they are too large together."""
    states = schema.n_states.tolist()
    layouts = []
    n_cells = n_summed = 0
    for tables, structure, where in zip(entries, structures, wheres, strict=True):
        scopes = read_scopes(tables, schema, structure, where)
        layout = FamilyLayout.of_sums(states, structure, scopes)
        n_cells += layout.n_cells
        n_summed += layout.n_summed
        if max(n_cells, layout.n_given) > MAX_CELLS:
            raise FileFormatError(
                f"{what} describes tables of more than {MAX_CELLS:,} cells, which is "
                "not allowed."
            )
        if n_summed > MAX_SUMMED_CELLS:
            raise FileFormatError(
                f"{what} describes sums of tables with more than "
                f"{MAX_SUMMED_CELLS:,} configurations, which is not allowed."
            )
        if max(map(len, structure.families)) > MAX_FAMILY:
            raise FileFormatError(
                f"{what} has a variable with more than {MAX_FAMILY - 1} parents, which "
                "is not allowed."
            )
        layouts.append(layout)
    return layouts


def _check_sums(layouts: Sequence[FamilyLayout], n_bytes: int, what: str) -> None:
    """Refuse sums of tables that are enormous for a file of this size.

    Every configuration of a sum is visited, and each of the parents has a normalising
    constant, so that a file of some kilobytes could take gigabytes.
    """
    n_given = max(layout.n_given for layout in layouts)
    n_summed = sum(layout.n_summed for layout in layouts)
    most_given = max(FREE_CELLS, n_bytes)
    most_summed = SUMMED_PER_CELL * most_given
    if n_given > most_given or n_summed > most_summed:
        raise FileFormatError(
            f"{what} has {n_bytes:,} bytes, but describes sums of tables with "
            f"{n_summed:,} configurations, {n_given:,} of them of the parents in one "
            f"family; at most {most_summed:,} and {most_given:,} are allowed for a "
            "file of this size."
        )


def _packed_vectors(
    document: dict[str, Any],
    path: Path,
    entries: Sequence[dict[str, Any]],
    layouts: Sequence[FamilyLayout],
    what: str,
) -> list[FloatArray] | None:
    """The tables of every network from the file npz, None if there is none."""
    packed = document.get("tables_file")
    if packed is None:
        return None
    if any(has_numbers(entry) for e in entries for entry in e.values()):
        raise FileFormatError(f"{what} has tables both inside and in an npz file.")
    sizes = [layout.n_cells for layout in layouts]
    vector = unpack_arrays(
        *tables_content(packed, path, MAX_NPZ_BYTES, what), n_cells=sum(sizes)
    )
    return np.split(vector, np.cumsum(sizes)[:-1])
