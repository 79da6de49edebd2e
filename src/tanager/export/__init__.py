"""Models in other languages: SQL, C and JavaScript."""

from tanager.export.c_source import CSource, to_c
from tanager.export.js_module import to_js
from tanager.export.sql import to_sql

__all__ = ["CSource", "to_c", "to_js", "to_sql"]
