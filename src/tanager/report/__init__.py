"""One-file HTML reports of models and of comparisons."""

from tanager.report.assessment import Assessment, assess
from tanager.report.model_report import Training, report_text, write_report
from tanager.report.samples import ReportData

__all__ = [
    "Assessment",
    "ReportData",
    "Training",
    "assess",
    "report_text",
    "write_report",
]
