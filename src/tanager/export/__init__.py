"""Models in other languages: SQL, ONNX, C, JavaScript, and points to add."""

from tanager.export.c_source import CSource, to_c
from tanager.export.js_module import to_js
from tanager.export.onnx_graph import to_onnx
from tanager.export.rating_table import RatingTable, to_rating_table
from tanager.export.rounding_loss import RoundingLoss, measure_rounding
from tanager.export.sql import to_sql

__all__ = [
    "CSource",
    "RatingTable",
    "RoundingLoss",
    "measure_rounding",
    "to_c",
    "to_js",
    "to_onnx",
    "to_rating_table",
    "to_sql",
]
