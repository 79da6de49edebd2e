"""``python -m lab.studies.residual``: measure what is not yet measured.

The sets come from the folder that TANAGER_DATA names. Every number is written as soon
as it is there, so an interrupted run can be gone on with; to measure anew, remove the
file.
"""

from __future__ import annotations

import argparse
import sys

from lab.studies.residual import bins, images, tables

PARTS = {"images": images.run, "bins": bins.run}


def main(arguments: list[str]) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.studies.residual",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=PARTS, help="one part of the measurements")
    parser.add_argument("--tables", action="store_true", help="print the tables")
    asked = parser.parse_args(arguments)
    if asked.tables:
        print(tables.document())
        return 0
    for name, part in PARTS.items():
        if asked.only in (None, name):
            part()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
