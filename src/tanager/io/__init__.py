"""Readers and writers: models as JSON, BIF, XMLBIF; data as CSV, Parquet, Arrow."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = [
    "Batches",
    "ModelFile",
    "check_output",
    "check_suffix",
    "is_batched",
    "network_format",
    "read_any",
    "read_bif",
    "read_model",
    "read_table",
    "read_xmlbif",
    "write_bif",
    "write_csv",
    "write_ensemble",
    "write_model",
    "write_table",
    "write_xmlbif",
]

if TYPE_CHECKING:
    from tanager.io.batches import Batches, is_batched
    from tanager.io.bif_reader import read_bif
    from tanager.io.bif_writer import write_bif
    from tanager.io.csv_text import write_csv
    from tanager.io.data_files import check_output, read_table, write_table
    from tanager.io.model_file import ModelFile, read_model, write_ensemble, write_model
    from tanager.io.network_formats import check_suffix, network_format, read_any
    from tanager.io.xmlbif_reader import read_xmlbif
    from tanager.io.xmlbif_writer import write_xmlbif
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".batches": ("Batches", "is_batched"),
            ".bif_reader": ("read_bif",),
            ".bif_writer": ("write_bif",),
            ".csv_text": ("write_csv",),
            ".data_files": ("check_output", "read_table", "write_table"),
            ".model_file": ("ModelFile", "read_model", "write_ensemble", "write_model"),
            ".network_formats": ("check_suffix", "network_format", "read_any"),
            ".xmlbif_reader": ("read_xmlbif",),
            ".xmlbif_writer": ("write_xmlbif",),
        },
    )  # fmt: skip
