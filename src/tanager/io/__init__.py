"""Files in and out: models as JSON, tables as CSV, Parquet and Arrow."""

from tanager.io.atomic import check_writable, replacing, write_bytes, write_text
from tanager.io.csv_text import write_csv
from tanager.io.model_file import (
    ModelFile,
    read_model,
    write_ensemble,
    write_model,
)
from tanager.io.table_files import check_output, read_table, write_table

__all__ = [
    "ModelFile",
    "check_output",
    "check_writable",
    "read_model",
    "read_table",
    "replacing",
    "write_bytes",
    "write_csv",
    "write_ensemble",
    "write_model",
    "write_table",
    "write_text",
]
