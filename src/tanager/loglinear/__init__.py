"""Log-linear models: sums of small log tables, fitted by conditional likelihood."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = ["CurvatureSamples", "FactorStatistics", "FactorTables"]

if TYPE_CHECKING:
    from tanager.loglinear.factor_statistics import FactorStatistics
    from tanager.loglinear.factor_uncertainty import CurvatureSamples
    from tanager.loglinear.fitted_factors import FactorTables
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".factor_statistics": ("FactorStatistics",),
            ".fitted_factors": ("FactorTables",),
            ".factor_uncertainty": ("CurvatureSamples",),
        },
    )  # fmt: skip
