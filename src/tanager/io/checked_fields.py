"""Fields of the JSON document of a model file, checked without trusting it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf
from typing import Any

from tanager.errors import FileFormatError, InputError
from tanager.io.json_text import nesting
from tanager.model.schema import Schema, Variable
from tanager.model.structure import Structure, find_cycle

FORMAT = "tanager-model"  # what the field ``format`` says

# Layouts of the document, by its field ``schema_version``: one network (odd) or several
# over the same variables (even); from `SUMS_VERSION` on families may be sums of log
# tables, from `MISSING_VERSION` on variables may have a state of a missing value.
# `FACTORS_VERSION` has the factors of a log-linear network instead of CPTs,
# `FACTOR_ERRORS_VERSION` their standard errors, too, and `FACTOR_VARIANCES_VERSION` the
# scale of the variances of features that are not observed. From `UNITS_VERSION` on any
# of these documents may have variables with a unit; the fields say which one it is.
NETWORK_VERSION, ENSEMBLE_VERSION, SUMS_VERSION, ENSEMBLE_OF_SUMS_VERSION = 1, 2, 3, 4
MISSING_VERSION, ENSEMBLE_WITH_MISSING_VERSION = 5, 6
FACTORS_VERSION, FACTOR_ERRORS_VERSION, FACTOR_VARIANCES_VERSION = 7, 8, 9
UNITS_VERSION = 10
SCHEMA_VERSION = UNITS_VERSION
ONE_NETWORK = (NETWORK_VERSION, SUMS_VERSION, MISSING_VERSION)

MAX_NESTING = 64
"""Lists and objects inside each other in the settings of a classifier."""

Fields = Mapping[str, tuple[type, ...]]

_NoneType = type(None)
_COMMON: Fields = {
    "format": (str,),
    "schema_version": (int,),
    "written_by": (str,),
    "target": (str, _NoneType),
    "variables": (list,),
    "classifier": (dict, _NoneType),
}
_ONE: Fields = {**_COMMON, "tables": (dict,)}
_SEVERAL: Fields = {**_COMMON, "members": (list,)}
_FACTORS: Fields = {**_COMMON, "log_prior": (list,), "factors": (list,)}
_VARIANCES: Fields = {"variance_scale": (int, float)}
_OPTIONAL: Fields = {"tables_file": (dict,)}
_MEMBER: Fields = {"weight": (int, float), "tables": (dict,)}
_VARIABLE: Fields = {
    "name": (str,),
    "states": (list,),
    "ordered": (bool,),
    "cuts": (list, _NoneType),
}
_VARIABLE_WITH_MISSING: Fields = {**_VARIABLE, "missing_state": (bool,)}
_UNIT: Fields = {"unit": (str, _NoneType)}
_TABLE: Fields = {"log_probabilities": (list,)}
_TABLE_OR_SUM: Fields = {**_TABLE, "log_tables": (list,)}
_PART: Fields = {"variables": (list,)}
TABLES_FILE: Fields = {"name": (str,), "sha256": (str,)}
_KINDS = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    _NoneType: "null",
}


def check_kind(document: Any, what: str) -> None:
    """Reject other documents and those of later versions."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError(
            f'{what} is not a tanager model: it has no "format": "{FORMAT}".'
        )
    version = document.get("schema_version")
    if type(version) is not int or version < 1:
        raise FileFormatError(
            f"{what} has the schema_version {version!r}; expected a whole number of at "
            "least 1."
        )
    if version > SCHEMA_VERSION:
        raise FileFormatError(
            f"{what} has schema_version {version} and was written by "
            f"{document.get('written_by')!r}, but this version of tanager reads up to "
            f"{SCHEMA_VERSION}; upgrade tanager (pip install --upgrade tanager)."
        )


def check_document(document: dict[str, Any], what: str) -> None:
    """Reject a document with missing or unknown fields for its version."""
    version = document["schema_version"]
    fields = _ONE if version in ONE_NETWORK else _SEVERAL
    optional = _OPTIONAL
    if version >= UNITS_VERSION:
        fields = _ONE
        if "factors" in document:
            fields, optional = _FACTORS, {**_OPTIONAL, **_VARIANCES}
        elif "members" in document:
            fields = _SEVERAL
    elif version >= FACTOR_VARIANCES_VERSION:
        fields = {**_FACTORS, **_VARIANCES}
    elif version >= FACTORS_VERSION:
        fields = _FACTORS
    check_fields(document, fields, what, optional=optional)
    if nesting(document["classifier"]) > MAX_NESTING:
        raise FileFormatError(
            f"{what} has settings of the classifier that are nested more than "
            f"{MAX_NESTING} deep, which is not allowed."
        )


def read_members(
    document: dict[str, Any], what: str
) -> tuple[list[dict[str, Any]], tuple[float, ...] | None]:
    """CPT entries of every network, and the weights of an ensemble or None."""
    if "tables" in document:
        return [document["tables"]], None
    if not document["members"]:
        raise FileFormatError(f"{what} has no members.")
    weights = []
    for number, entry in enumerate(document["members"], start=1):
        where = member_name(what, number)
        check_fields(entry, _MEMBER, where)
        try:
            weights.append(float(entry["weight"]))
        except OverflowError:
            raise FileFormatError(f"{where} has a weight that is too large.") from None
        if weights[-1] <= 0:
            raise FileFormatError(
                f"{where} has the weight {weights[-1]:g}; expected a number above 0."
            )
    if isinf(sum(weights)):
        raise FileFormatError(f"{what} has members with weights that are too large.")
    return [entry["tables"] for entry in document["members"]], tuple(weights)


def member_name(what: str, number: int) -> str:
    """Beginning of a message about one member of an ensemble."""
    return f"{what}, member number {number},"


def check_fields(
    entry: Any, fields: Fields, what: str, *, optional: Fields | None = None
) -> None:
    """Reject an object with missing, unknown or mistyped fields."""
    if not isinstance(entry, dict):
        found = _KINDS[type(entry)]
        raise FileFormatError(f"{what} has {found} where an object should be.")
    known = {**fields, **(optional or {})}
    for name in fields:
        if name not in entry:
            raise FileFormatError(f"{what} lacks the field {name!r}.")
    for name, value in entry.items():
        if name not in known:
            raise FileFormatError(f"{what} has the unknown field {name!r}.")
        if type(value) not in known[name]:
            expected = " or ".join(_KINDS[kind] for kind in known[name])
            raise FileFormatError(
                f"{what} has {_KINDS[type(value)]} in the field {name!r}; expected "
                f"{expected}."
            )


def read_schema(document: dict[str, Any], what: str) -> Schema:
    """Variables and target of a document."""
    has_missing = document["schema_version"] >= MISSING_VERSION
    fields = _VARIABLE_WITH_MISSING if has_missing else _VARIABLE
    if document["schema_version"] >= UNITS_VERSION:
        fields = {**fields, **_UNIT}
    variables = []
    for number, entry in enumerate(document["variables"], start=1):
        where = f"{what}, variable number {number},"
        check_fields(entry, fields, where)
        if any(type(state) not in (str, int, float, bool) for state in entry["states"]):
            raise FileFormatError(
                f"{where} has a state that is not a string, number, true or false."
            )
        cuts = entry["cuts"]
        if cuts is not None and any(type(cut) not in (int, float) for cut in cuts):
            raise FileFormatError(f"{where} has a cut that is not a number.")
        try:
            plain = None if cuts is None else tuple(float(cut) for cut in cuts)
            variables.append(
                Variable(
                    entry["name"],
                    tuple(entry["states"]),
                    entry["ordered"],
                    plain,
                    entry.get("missing_state", False),
                    entry.get("unit"),
                )
            )
        except InputError as error:
            raise FileFormatError(f"{where} is not valid. {error}") from None
        except OverflowError:
            raise FileFormatError(f"{where} has a cut that is too large.") from None
    if not variables:
        raise FileFormatError(f"{what} has no variables.")
    names = [variable.name for variable in variables]
    target = document["target"]
    if target is not None and target not in names:
        raise FileFormatError(
            f"{what} has the target {target!r}, which is no variable."
        )
    try:
        return Schema(tuple(variables), None if target is None else names.index(target))
    except InputError as error:
        raise FileFormatError(f"{what} is not valid. {error}") from None


def read_structure(
    tables: dict[str, Any], schema: Schema, version: int, what: str
) -> Structure:
    """Parents of every variable, from the CPT entries."""
    for name in tables:
        if name not in schema.position:
            raise FileFormatError(
                f"{what} has a CPT of {name!r}, which is no variable."
            )
    optional = _TABLE_OR_SUM if version >= SUMS_VERSION else _TABLE
    parents = []
    for variable in schema:
        if variable.name not in tables:
            raise FileFormatError(f"{what} has no CPT of {variable.name!r}.")
        entry = tables[variable.name]
        where = f"{what}, CPT of {variable.name!r},"
        check_fields(entry, {"parents": (list,)}, where, optional=optional)
        for parent in entry["parents"]:
            if not isinstance(parent, str) or parent not in schema.position:
                raise FileFormatError(
                    f"{where} has the parent {parent!r}, which is no variable."
                )
        if len(set(entry["parents"])) < len(entry["parents"]):
            raise FileFormatError(f"{where} names a parent twice.")
        parents.append(tuple(schema.position[name] for name in entry["parents"]))
    cycle = find_cycle(parents)
    if cycle:
        shown = " -> ".join(repr(schema[v].name) for v in cycle)
        raise FileFormatError(f"{what} has arcs that form a cycle: {shown}.")
    return Structure(tuple(parents), schema.target)


def read_scopes(
    tables: dict[str, Any], schema: Schema, structure: Structure, what: str
) -> list[list[tuple[int, ...]]]:
    """For every variable the variables of its tables, from the CPT entries."""
    found = []
    for variable, family in zip(schema, structure.families, strict=True):
        entry = tables[variable.name]
        where = f"{what}, CPT of {variable.name!r},"
        if "log_tables" not in entry:
            found.append([family])
            continue
        if "log_probabilities" in entry:
            raise FileFormatError(
                f"{where} has both 'log_probabilities' and 'log_tables'."
            )
        names = [schema[v].name for v in family]
        scopes = []
        for number, part in enumerate(entry["log_tables"], start=1):
            place = f"{where} part number {number},"
            check_fields(part, _PART, place, optional={"values": (list,)})
            given = part["variables"]
            known = {name for name in given if isinstance(name, str)}
            if not given or given != [name for name in names if name in known]:
                raise FileFormatError(
                    f"{place} is over {given}; expected some of {names} in this order."
                )
            scopes.append(tuple(schema.position[name] for name in given))
        if not any(family[-1] in scope for scope in scopes):
            raise FileFormatError(f"{where} has no part with {variable.name!r} itself.")
        found.append(scopes)
    return found
