"""``python -m lab.studies.networks``: measure what is not yet measured.

The sets come from the folder that TANAGER_DATA names. Every number is written as soon
as it is there, so an interrupted run can be gone on with; to measure anew, remove the
file. Learners of other libraries (extra "bench") are left out where they are not
installed.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

PARTS = ("recovery", "accuracy", "partitions", "semi_supervised")


def main(arguments: list[str]) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.studies.networks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=PARTS, help="one part of the measurements")
    parser.add_argument("--tables", action="store_true", help="print the tables")
    asked = parser.parse_args(arguments)
    if asked.tables:
        print(import_module("lab.studies.networks.tables").document())
        return 0
    for name in PARTS:
        if asked.only in (None, name):
            import_module(f"lab.studies.networks.{name}").run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
