"""One-file HTML reports of models and of comparisons."""

from tanager.report.assessment import Assessment, assess
from tanager.report.comparison_page import (
    ComparedMetric,
    Comparison,
    comparison_text,
    write_comparison,
)
from tanager.report.model_report import Training, report_text, write_report
from tanager.report.samples import ReportData

__all__ = [
    "Assessment",
    "ComparedMetric",
    "Comparison",
    "ReportData",
    "Training",
    "assess",
    "comparison_text",
    "report_text",
    "write_comparison",
    "write_report",
]
