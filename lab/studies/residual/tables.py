"""The results as Markdown tables."""

from __future__ import annotations

from lab.studies.parameters.results import Results
from lab.studies.residual import bins, images


def document() -> str:
    """All tables, each under its title."""
    return "\n\n".join(
        f"{title}:\n\n{table(results)}"
        for title, results in (
            ("Sets of images and letters", images.results()),
            ("Many bins", bins.results()),
        )
    )


def table(results: Results) -> str:
    """Test error in percent, log loss and seconds, a row for each set and method."""
    lines = [
        "| set | method | error % | log loss | seconds | processor seconds |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in results.rows:
        lines.append(
            f"| {row['set']} | {row['method']} | {100 * float(row['error']):.2f} | "
            f"{float(row['log_loss']):.4f} | {float(row['seconds']):.1f} | "
            f"{float(row['processor_seconds']):.1f} |"
        )
    return "\n".join(lines)
