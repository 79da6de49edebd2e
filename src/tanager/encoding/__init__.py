"""From any data frame to integer codes: discretisation, categories, missing values."""

from tanager.encoding.column_roles import Role
from tanager.encoding.encoding_steps import EncodingPlan, encode_frame
from tanager.encoding.feature_states import extend_schema
from tanager.encoding.frame import Column, Frame, read_frame
from tanager.encoding.frame_schema import fit_schema
from tanager.encoding.numeric_encoders import (
    EqualWidthEncoder,
    MDLEncoder,
    NumericEncoder,
    QuantileEncoder,
)
from tanager.encoding.table_encoder import TableEncoder
from tanager.encoding.table_summary import TableSummary, sum_summaries

__all__ = [
    "Column",
    "EncodingPlan",
    "EqualWidthEncoder",
    "Frame",
    "MDLEncoder",
    "NumericEncoder",
    "QuantileEncoder",
    "Role",
    "TableEncoder",
    "TableSummary",
    "encode_frame",
    "extend_schema",
    "fit_schema",
    "read_frame",
    "sum_summaries",
]
