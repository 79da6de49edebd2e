"""``python -m experiments.differentiable``: measure what is not yet measured.

The sets come from the folder that TANAGER_DATA names. Every number is written as soon
as it is there, so an interrupted run can be gone on with, and several processes can
work on different sets or methods at a time; to measure anew, remove the file.
"""

from __future__ import annotations

import argparse
import sys

from experiments.differentiable import comparison, tables
from experiments.differentiable.methods import METHODS
from experiments.differentiable.sets import SETS, SHOWN
from experiments.differentiable.settings import N_SETTINGS

PARTS = ("comparison",)


def main(arguments: list[str]) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.differentiable",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=PARTS, help="one part of the measurements")
    parser.add_argument("--tables", action="store_true", help="print the tables")
    parser.add_argument("--set", nargs="+", choices=SETS, default=SHOWN)
    several = parser.add_argument_group("comparison (Table 1 of the paper)")
    several.add_argument("--method", nargs="+", choices=METHODS, metavar="METHOD")
    several.add_argument("--epochs", type=int, default=comparison.EPOCHS)
    several.add_argument("--settings", type=int, default=N_SETTINGS)
    several.add_argument(
        "--start", choices=("random", "frequency"), default=comparison.START
    )
    asked = parser.parse_args(arguments)
    if asked.tables:
        print(tables.document())
        return 0
    if asked.only in (None, "comparison"):
        comparison.run(
            asked.set,
            asked.method,
            epochs=asked.epochs,
            n_settings=asked.settings,
            start=asked.start,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
