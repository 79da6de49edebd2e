"""``python -m lab.studies.structure``: measure what is not yet measured.

The sets come from the folder that TANAGER_DATA names. Every number is written as soon
as it is there, so an interrupted run can be gone on with; to measure anew, remove the
file. With --figures nothing is measured, and the figures of docs/ are drawn from the
files (extra "plot").
"""

from __future__ import annotations

import argparse
import sys

from lab.studies.structure import (
    comparison,
    digits,
    random_orders,
    three_features,
    times,
)

PARTS = {
    "features": three_features.run,
    "times": times.run,
    "comparison": comparison.run,
    "orders": random_orders.run,
    "digits": digits.run,
}


def main(arguments: list[str]) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.studies.structure",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=PARTS, help="one part of the measurements")
    parser.add_argument("--figures", action="store_true", help="draw the figures")
    parser.add_argument("--tables", action="store_true", help="print the tables")
    asked = parser.parse_args(arguments)
    if asked.figures:
        from lab.studies.structure import figures

        figures.draw()
    elif asked.tables:
        from lab.studies.structure import tables

        print(tables.document())
    else:
        for name, part in PARTS.items():
            if asked.only in (None, name):
                part()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
