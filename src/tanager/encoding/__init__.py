"""From any data frame to integer codes: discretisation, categories, missing values."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

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
    "describe",
    "encode_frame",
    "extend_schema",
    "feature_kind",
    "fit_schema",
    "read_frame",
    "sum_summaries",
]

if TYPE_CHECKING:
    from tanager.encoding.column_facts import ColumnFacts, feature_kind
    from tanager.encoding.column_roles import Role
    from tanager.encoding.encoding_plan import EncodingPlan, encode_frame
    from tanager.encoding.feature_differences import FeatureContrasts
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
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".column_facts": ("ColumnFacts", "feature_kind"),
            ".column_roles": ("Role",),
            ".encoding_plan": ("EncodingPlan", "encode_frame"),
            ".feature_differences": ("FeatureContrasts",),
            ".feature_states": ("extend_schema",),
            ".frame": ("Column", "Frame", "read_frame"),
            ".frame_schema": ("fit_schema",),
            ".numeric_encoders": (
                "EqualWidthEncoder", "MDLEncoder", "NumericEncoder", "QuantileEncoder",
            ),
            ".table_description": (
                "ColumnDescription", "Problem", "TableDescription", "describe",
            ),
            ".table_encoder": ("TableEncoder",),
            ".table_summary": ("TableSummary", "sum_summaries"),
        },
    )  # fmt: skip
