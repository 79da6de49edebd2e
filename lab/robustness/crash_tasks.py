"""Work that writes files: what is killed, and which files it must leave whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from tanager import BayesNetClassifier, GumbelTree, load
from tanager.cli import cli
from tanager.io import write_table

MANY_STATES = 70
"""States of the features whose CPTs go to a file of their own."""


@dataclass(frozen=True)
class CrashTask:
    """Work in a folder that is killed at random moments.

    Parameters
    ----------
    about : str
        What is done.
    outputs : tuple of str
        Files that are absent, as before, or complete at every moment.
    run : function of a folder
        Do the work.
    prepare : function of a folder
        Write what the work needs, and older versions of the outputs.
    """

    about: str
    outputs: tuple[str, ...]
    run: Callable[[Path], object]
    prepare: Callable[[Path], object]


def _command(*arguments: str) -> Callable[[Path], object]:
    """Run the command line in the folder."""

    def run(folder: Path) -> object:
        with chdir(folder):
            return cli.main(list(arguments), prog_name="tanager")

    return run


def _lab_command(*arguments: str) -> Callable[[Path], object]:
    """Run a command of the lab in the folder."""

    def run(folder: Path) -> object:
        # It imports this module, for the command that kills.
        lab_cli = import_module("lab.__main__").cli
        with chdir(folder):
            return lab_cli.main(list(arguments), prog_name="python -m lab")

    return run


def _write_data(folder: Path) -> None:
    """Write samples of numeric and categorical features, and a former model."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, 300)
    columns = {
        "a": np.round(labels + random.normal(size=300), 2),
        "b": np.array(["u", "v", "w"])[(labels + random.integers(0, 2, 300)) % 3],
        "c": np.round(random.normal(size=300), 2),
        "class": labels,
    }
    write_table(folder / "data.csv", columns)
    X = {name: columns[name] for name in "abc"}
    BayesNetClassifier("width", "nb", "fe").fit(X, labels).save(folder / "model.json")


def _write_wide_data(folder: Path) -> None:
    """Write features of many states, and a former model with its own tables file."""
    random = np.random.default_rng(0)
    columns: dict[str, np.ndarray] = {
        name: np.char.add("s", random.integers(0, MANY_STATES, 500).astype(str))
        for name in "abcd"
    }
    columns["class"] = random.integers(0, 12, 500)
    write_table(folder / "data.csv", columns)
    X = {name: columns[name][::-1] for name in "abcd"}
    model = BayesNetClassifier("categorical", "kdb2", "fe").fit(X, columns["class"])
    model.save(folder / "model.json")


def _run_checkpointed(folder: Path) -> None:
    """Fit by gradient descent; a run that was killed is resumed."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = np.stack([(y + random.integers(0, 2, 200)) % 3 for _ in range(5)], axis=1)
    learner = GumbelTree(epochs=30, checkpoint=folder / "run.npz")
    model = BayesNetClassifier("categorical", learner, "keep", random_state=0)
    model.fit(X, y).save(folder / "model.json")


CRASH_TASKS = {
    "fit": CrashTask(
        "tanager fit",
        ("model.json",),
        _command("fit", "data.csv", "-t", "class", "-q", "-o", "model.json"),
        _write_data,
    ),
    "fit-npz": CrashTask(
        "tanager fit, CPTs in a file of their own",
        ("model.json",),
        _command(
            "fit", "data.csv", "-t", "class", "-q", "-m", "KDB2+FE",
            "-o", "model.json",
        ),
        _write_wide_data,
    ),
    "tune": CrashTask(
        "tanager tune",
        ("model.json",),
        _command(
            "tune", "data.csv", "-t", "class", "-q", "-m", "NB-MM",
            "-o", "model.json",
        ),
        _write_data,
    ),
    "checkpoint": CrashTask(
        "gradient descent with a checkpoint", ("model.json",), _run_checkpointed,
        lambda _: None,
    ),
    "fit-checkpoint": CrashTask(
        "tanager fit with a checkpoint",
        ("model.json",),
        _command(
            "fit", "data.csv", "-t", "class", "-q", "-m", "NB+ELR", "--encoder",
            "width", "--checkpoint", "fit.rounds", "-o", "model.json",
        ),
        _write_data,
    ),
    "report": CrashTask(
        "tanager report",
        ("report.html",),
        _command("report", "model.json", "data.csv", "-q", "-o", "report.html"),
        _write_data,
    ),
    "convert": CrashTask(
        "tanager convert",
        ("model.bif",),
        _command("convert", "model.json", "model.bif", "-q"),
        _write_data,
    ),
    "reproduce": CrashTask(
        "python -m lab reproduce",
        ("results/su2008/figure2.csv", "results/su2008/figure2.svg"),
        _lab_command(
            "reproduce", "su2008/figure2", "--quick", "-q", "--jobs", "1",
            "--cache", "cache", "--output", "results",
        ),
        lambda folder: shutil.rmtree(folder / "cache", ignore_errors=True),
    ),
    **{
        f"export-{to}": CrashTask(
            f"tanager export --to {to}",
            (f"model.{ending}",),
            _command(
                "export", "model.json", "--to", to, "-q", "-o", f"model.{ending}"
            ),
            _write_data,
        )
        for to, ending in (("sql", "sql"), ("c", "c"), ("js", "mjs"))
    },
}  # fmt: skip


def is_whole(path: Path) -> bool:
    """Whether a file can be read with all that belongs to it."""
    if path.suffix in (".json", ".bif"):
        load(path)
    return path.stat().st_size > 0
