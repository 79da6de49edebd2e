"""HTML reports and Markdown cards of models, and reports of comparisons."""

from tanager.report.assessment import Assessment, assess
from tanager.report.comparison_page import (
    ComparedMetric,
    Comparison,
    comparison_text,
    write_comparison,
)
from tanager.report.model_card import ModelCard, make_card
from tanager.report.model_report import Training, report_text, write_report
from tanager.report.samples import ReportData

__all__ = [
    "Assessment",
    "ComparedMetric",
    "Comparison",
    "ModelCard",
    "ReportData",
    "Training",
    "assess",
    "comparison_text",
    "make_card",
    "report_text",
    "write_comparison",
    "write_report",
]
