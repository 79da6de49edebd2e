"""The command ``tanager``; also ``python -m tanager``.

Only click is imported here: ``tanager --help`` must not wait for NumPy. Commands
import what they need when they run.
"""

from __future__ import annotations

import click

from tanager._version import __version__
from tanager.cli._card import card
from tanager.cli._convert import convert
from tanager.cli._demo import demo
from tanager.cli._describe import describe
from tanager.cli._evaluate import evaluate
from tanager.cli._explain import explain
from tanager.cli._export import export
from tanager.cli._fit import fit
from tanager.cli._group import Commands
from tanager.cli._listings import datasets, names
from tanager.cli._plot import plot
from tanager.cli._predict import predict
from tanager.cli._report import report
from tanager.cli._show import show
from tanager.cli._tune import tune
from tanager.cli._warmup import warmup

__all__ = ["cli", "main"]


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.version_option(__version__, prog_name="tanager")
def cli() -> None:
    """Bayesian network classifiers: fit, predict, evaluate and inspect models.

    Data files are CSV (also .gz), TSV, Parquet, Arrow or Excel; "-" reads CSV from
    standard input. Empty fields are missing values, which every command accepts.

    \b
    tanager describe data.csv --target class
    tanager fit data.csv --target class -o model.json
    tanager predict model.json new.csv -o out.csv
    tanager evaluate data.csv --target class --models NB-ML,TAN-CMI-ML
    """  # noqa: D301


_COMMANDS = (
    describe, fit, predict, explain, evaluate, tune, show, plot, report, card,
    convert, export, names, datasets, demo, warmup,
)  # fmt: skip
for _command in _COMMANDS:
    cli.add_command(_command)


def main() -> None:
    """Run the command line and exit."""
    cli.main(prog_name="tanager")
