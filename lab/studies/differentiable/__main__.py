"""``python -m lab.studies.differentiable``: measure what is not yet measured.

The sets come from the folder that TANAGER_DATA names. Every number is written as soon
as it is there, so an interrupted run can be gone on with, and several processes can
work on different sets or methods at a time; to measure anew, remove the file.

  comparison   Table 1 of the paper: random settings, chosen by rows held out
  every-draw   the best weights of a list of it, with as many draws as the paper has
  recovery     the Chow-Liu tree by gradients
  beyond       without an order, with two parents, beside residual trees
"""

from __future__ import annotations

import argparse
import sys

from lab.measurements.gumbel import METHODS
from lab.studies.differentiable import beyond, comparison, every_draw, recovery, tables
from lab.studies.differentiable.sets import SETS

PARTS = ("comparison", "every-draw", "recovery", "beyond")


def main(arguments: list[str]) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.studies.differentiable",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=PARTS, help="one part of the measurements")
    parser.add_argument("--tables", action="store_true", help="print the tables")
    parser.add_argument("--set", nargs="+", choices=SETS, help="only these")
    parser.add_argument(
        "--method",
        nargs="+",
        choices=[*METHODS, *beyond.METHODS],
        metavar="METHOD",
        help='only these, such as "TAN Subset 8"',
    )
    parser.add_argument("--epochs", type=int, help="how many, if not as usual")
    parser.add_argument(
        "--settings", type=int, help="how many, if not as usual (comparison)"
    )
    parser.add_argument(
        "--start",
        choices=("random", "frequency"),
        help="first tables, if not as usual (comparison, recovery)",
    )
    parser.add_argument(
        "--seeds", type=int, default=3, help="how many (recovery, beyond)"
    )
    asked = parser.parse_args(arguments)
    if asked.tables:
        print(tables.document())
        return 0
    seeds = range(asked.seeds)
    if asked.only in (None, "comparison"):
        comparison.run(
            asked.set or tuple(SETS),
            asked.method,
            epochs=asked.epochs,
            n_settings=asked.settings,
            start=asked.start,
        )
    if asked.only in (None, "every-draw"):
        every_draw.run(asked.set, asked.method)
    if asked.only in (None, "recovery"):
        recovery.run(
            asked.set or recovery.NAMES,
            epochs=asked.epochs or recovery.EPOCHS,
            start=asked.start or recovery.START,
            seeds=seeds,
        )
    if asked.only in (None, "beyond"):
        beyond.run(
            asked.set or beyond.NAMES,
            asked.method,
            epochs=asked.epochs or beyond.EPOCHS,
            seeds=seeds,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
