"""``tanager demo``: the default model on a real table with missing values."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from tanager.cli._terminal import print_text

if TYPE_CHECKING:
    from tanager.types import FloatArray

FOLDER = "tanager-demo"
DATASET = "penguins"
FILES = ("model.json", "network.svg", "bill_length.svg", "report.html")
CURVE = "bill_length_mm"
ASKED = 160  # position of the penguin that is asked about
FOLDS = 5
HIDDEN = 0.3
SEED = 0

OURS = "BayesNetClassifier()"

Maker = Callable[[], Any]


@click.command()
@click.option("--folder", default=FOLDER, show_default=True, help="Where files go.")
def demo(folder: str) -> None:
    """Compare, draw and explain a model of an embedded dataset.

    344 penguins of three species: categories, numbers and missing values. Writes a
    model, two pictures and a report to a folder.
    """
    run(folder)


def run(folder: str | Path = FOLDER) -> None:
    """Run the demonstration; the files go to `folder`, which is made if needed."""
    from threadpoolctl import threadpool_limits

    from tanager import BayesNetClassifier, datasets
    from tanager.cli._input_data import load_data, training_data
    from tanager.cli._show import summary
    from tanager.cli._text_pictures import print_picture
    from tanager.utils.atomic_write import write_text

    folder = Path(folder)
    _make(folder)
    rows = training_data(load_data(DATASET), None)
    _title(f"{DATASET}: {rows.size}, {datasets.info(DATASET).missing} missing values")
    # Data this small gain nothing from threads, which wait for each other where other
    # programs use the processors: minutes instead of seconds.
    with threadpool_limits(1):
        print_text(_comparison_text())
    model = BayesNetClassifier(random_state=SEED).fit(rows.features, rows.labels)
    network = model.network_
    _title("The model: a sum of factors, each of which can be read")
    print_text(summary([network]))
    _title("The network")
    print_picture(network)
    _title(f"One of the factors: what {CURVE} says")
    print_picture(network, CURVE)
    _explain(model)
    model.save(folder / "model.json")
    write_text(folder / "network.svg", network.to_svg())
    write_text(folder / "bill_length.svg", model.effect(CURVE).to_svg())
    model.report(
        folder / "report.html", rows.features, rows.labels, title="Palmer penguins"
    )
    _title("Files")
    for name in FILES:
        click.echo(f"  {(folder / name).resolve()}")
    click.echo("\nOpen the report in a browser: change any value, and see the answer.")
    command, model_file = own_command(), shlex.quote(f"{folder}/model.json")
    click.echo(f"Then try  {command} show {model_file}")
    click.echo(f"     and  {command} fit YOUR.csv --target COLUMN -o model.json")


def _explain(model: Any) -> None:
    """Explain one prediction, then the same without its most important value."""
    from tanager import datasets
    from tanager.cli._explanation_text import explanation_text

    data = datasets.load(DATASET)
    columns = {name: list(data.X[name]) for name in data.feature_names}
    sample = {name: [values[ASKED]] for name, values in columns.items()}
    for title, changes in (
        (f"Penguin {ASKED}, a {data.y[ASKED]}: why?", {}),
        (f"The same without {CURVE}: missing values need no care", {CURVE: [None]}),
    ):
        _title(title)
        codes = model.encode({**sample, **changes})
        print_text(
            explanation_text(
                model.network_, codes, None, "feature", (), everything=False
            )
        )


def _title(text: str) -> None:
    click.echo("\n" + click.style(text, bold=True) + "\n")


def _make(folder: Path) -> None:
    """Make the folder and see that files can be written there."""
    from tanager.errors import InputError
    from tanager.utils.atomic_write import check_writable

    advice = "Name a folder of yours with --folder FOLDER."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            check_writable(folder / name)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"Cannot make the folder '{folder}': {reason}. {advice}"
        ) from None
    except InputError as error:
        raise InputError(f"{error} {advice}") from None


def own_command() -> str:
    """How to type the command ``tanager`` of this Python in the current folder."""
    python = Path(sys.executable)
    script = python.with_name("tanager" + python.suffix)
    if script.is_file():
        return _shell_command(script)
    return f"{_shell_command(python)} -m tanager"


def _shell_command(program: Path) -> str:
    """The shortest name that a shell finds: name, relative path, path."""
    if shutil.which(program.name) == str(program):
        return program.name
    here = Path.cwd()
    if program.is_relative_to(here):
        relative = program.relative_to(here)
        return shlex.quote(
            f"{relative}" if len(relative.parts) > 1 else f"./{relative}"
        )
    return shlex.quote(str(program))


def _comparison_text() -> str:
    """Cross-validate the default and two classifiers of scikit-learn."""
    import numpy as np
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold

    from tanager import datasets
    from tanager.utils.text import table_text

    matrix, classes = _read()
    kinds = datasets.info(DATASET).kinds
    labels = np.array(classes)
    hidden = matrix.copy()
    hidden[np.random.default_rng(SEED).random(matrix.shape) < HIDDEN] = np.nan
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    folds = list(splits.split(matrix, labels))
    head = ("Classifier", "accuracy", "log loss", "accuracy*", "log loss*", "fit (s)")
    lines = []
    for name, make in _classifiers().items():
        scores = []
        prepare = partial(_with_texts, kinds) if name == OURS else np.asarray
        for training, test in folds:
            started = perf_counter()
            model = make().fit(prepare(matrix[training]), labels[training])
            row = [perf_counter() - started]
            for table in (matrix, hidden):
                p = model.predict_proba(prepare(table[test]))
                right = model.classes_[p.argmax(axis=1)] == labels[test]
                row += [right.mean(), log_loss(labels[test], p, labels=model.classes_)]
            scores.append(row)
        seconds, *others = np.mean(scores, axis=0)
        lines.append((name, *(f"{value:.3f}" for value in others), f"{seconds:.2f}"))
    return (
        table_text(head, lines, right=range(1, 6))
        + f"\n\n{FOLDS}-fold cross-validation, default settings, one thread. "
        + f"*: {HIDDEN:.0%} of the test values are hidden."
    )


def _read() -> tuple[FloatArray, list[str]]:
    """All features as numbers, categories as codes, NaN where missing; and classes."""
    import csv
    from importlib.resources import files

    import numpy as np

    from tanager import datasets

    entry = datasets.info(DATASET)
    text = (files("tanager.datasets") / str(entry.embedded)).read_text("utf-8")
    columns = list(zip(*list(csv.reader(text.splitlines()))[1:], strict=True))
    found = []
    for kind, column in zip(entry.kinds, columns, strict=False):
        codes = {name: str(code) for code, name in enumerate(sorted({*column} - {""}))}
        texts = column if kind == "n" else [codes.get(name, "") for name in column]
        found.append([float(value) if value else np.nan for value in texts])
    return np.array(found).T, list(columns[-1])


def _with_texts(kinds: str, matrix: FloatArray) -> dict[str, list[object]]:
    """The columns with categories as texts, from which the default sees what they are.

    scikit-learn's classifiers are given the positions of the categories instead.
    """
    found: dict[str, list[object]] = {}
    for place, (kind, column) in enumerate(zip(kinds, matrix.T, strict=True)):
        values: list[object] = column.tolist()
        if kind == "c":
            values = [f"c{value:g}" if value == value else None for value in column]
        found[f"x{place}"] = values
    return found


def _classifiers() -> dict[str, Maker]:
    """The default, boosted trees, and logistic regression with imputed values."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from tanager import BayesNetClassifier, datasets

    kinds = datasets.info(DATASET).kinds
    nominal = [j for j, kind in enumerate(kinds) if kind == "c"]
    numeric = [j for j, kind in enumerate(kinds) if kind == "n"]

    def boosting() -> Any:
        return HistGradientBoostingClassifier(
            categorical_features=nominal, random_state=SEED
        )

    def regression() -> Any:
        to_indicators = make_pipeline(
            SimpleImputer(strategy="most_frequent"),
            OneHotEncoder(handle_unknown="ignore"),
        )
        to_scaled = make_pipeline(SimpleImputer(), StandardScaler())
        return make_pipeline(
            make_column_transformer((to_indicators, nominal), (to_scaled, numeric)),
            LogisticRegression(),
        )

    def default() -> Any:
        return BayesNetClassifier(random_state=SEED)

    return {
        OURS: default,
        "HistGradientBoosting": boosting,
        "LogisticRegression": regression,
    }
