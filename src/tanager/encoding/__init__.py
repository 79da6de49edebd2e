"""From any data frame to integer codes: discretisation, categories, missing values."""

from tanager.encoding.column_facts import ColumnFacts, column_facts, feature_kind
from tanager.encoding.column_roles import Role
from tanager.encoding.encoding_plan import EncodingPlan, encode_frame
from tanager.encoding.feature_contrasts import FeatureContrasts
from tanager.encoding.feature_states import extend_schema
from tanager.encoding.frame import Column, Frame, read_frame
from tanager.encoding.frame_schema import fit_schema
from tanager.encoding.numeric_encoders import (
    EqualWidthEncoder,
    MDLEncoder,
    NumericEncoder,
    QuantileEncoder,
)
from tanager.encoding.table_description import (
    ColumnDescription,
    Problem,
    TableDescription,
    describe,
)
from tanager.encoding.table_encoder import TableEncoder
from tanager.encoding.table_summary import TableSummary, sum_summaries

__all__ = [
    "Column",
    "ColumnDescription",
    "ColumnFacts",
    "EncodingPlan",
    "EqualWidthEncoder",
    "FeatureContrasts",
    "Frame",
    "MDLEncoder",
    "NumericEncoder",
    "Problem",
    "QuantileEncoder",
    "Role",
    "TableDescription",
    "TableEncoder",
    "TableSummary",
    "column_facts",
    "describe",
    "encode_frame",
    "extend_schema",
    "feature_kind",
    "fit_schema",
    "read_frame",
    "sum_summaries",
]
