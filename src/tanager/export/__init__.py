"""Models in other languages: SQL, C."""

from tanager.export.sql import to_sql

__all__ = ["to_sql"]
