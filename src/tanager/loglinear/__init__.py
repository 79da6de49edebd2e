"""Log-linear models: sums of small log tables, fitted by conditional likelihood."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = ["CurvatureSamples", "FactorStatistics", "FactorTables"]

if TYPE_CHECKING:
    from tanager.loglinear.factor_statistics import FactorStatistics
    from tanager.loglinear.factor_tables import FactorTables
    from tanager.loglinear.factor_uncertainty import CurvatureSamples
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".factor_statistics": ("FactorStatistics",),
            ".factor_tables": ("FactorTables",),
            ".factor_uncertainty": ("CurvatureSamples",),
        },
    )  # fmt: skip
