"""From any table to integer codes: discretisation, categories, missing cells."""

from tanager.encoding.column_alignment import check_features, check_kind, check_names
from tanager.encoding.mdl import MDLEncoder
from tanager.encoding.numeric_encoders import (
    EqualWidthEncoder,
    NumericEncoder,
    QuantileEncoder,
    check_weights,
)
from tanager.encoding.row_encoder import EncodingPlan, encode_table
from tanager.encoding.state_union import extend_schema
from tanager.encoding.table import Column, Table, as_table
from tanager.encoding.table_encoder import TableEncoder, make_numeric_encoder
from tanager.encoding.variable_fitting import Role, fit_table

__all__ = [
    "Column",
    "EncodingPlan",
    "EqualWidthEncoder",
    "MDLEncoder",
    "NumericEncoder",
    "QuantileEncoder",
    "Role",
    "Table",
    "TableEncoder",
    "as_table",
    "check_features",
    "check_kind",
    "check_names",
    "check_weights",
    "encode_table",
    "extend_schema",
    "fit_table",
    "make_numeric_encoder",
]
