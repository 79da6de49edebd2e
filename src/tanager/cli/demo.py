"""``python -m tanager.cli.demo``: the library at work on embedded data.

``make demo`` runs this. It compares classifiers, fits one, asks it with features
missing, and leaves a model file, a report of it and the results of all folds in
``tanager-demo/``.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import click

from tanager.cli._group import Commands

FOLDER = "tanager-demo"
DATASETS = ("iris", "wine", "breast_cancer", "digits")
MODELS = ("NB-ML", "NB+FE", "TAN-CMI-ML", "TAN+FE")
CV = 5
SEED = 0
FLOWER = 52  # of iris that is asked about: a versicolor with petals almost too long


def run(folder: str | Path = FOLDER) -> None:
    """Run the demonstration; the files go to `folder`, which is made if needed."""
    folder = Path(folder)
    _make(folder)
    _compare(folder / "results.csv")
    _ask(folder / "model.json", folder / "report.html")
    click.echo(f"\nWrote {folder}/results.csv and {folder}/model.json.")
    click.echo(
        f"Open {folder}/report.html in a browser: the network, every flower, and what\n"
        "the model says of any evidence. Now try\n"
    )
    command = own_command()
    click.echo(f"  {command} show {shlex.quote(f'{folder}/model.json')}")
    click.echo(f"  {command} evaluate digits --models NB+FE,TAN+FE --cv 10")


def _make(folder: Path) -> None:
    """Make the folder and see that files can be written there."""
    from tanager.errors import InputError
    from tanager.utils.atomic_write import check_writable

    advice = "Name a folder of yours with --folder FOLDER."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("results.csv", "model.json", "report.html"):
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


def _compare(path: Path) -> None:
    """Cross-validate the classifiers on every dataset and write all results."""
    from tanager.classifiers.evaluation import evaluate
    from tanager.cli._data import load_data, training_data
    from tanager.cli._terminal import Progress
    from tanager.io import write_table

    columns: dict[str, list[object]] = {}
    for name in DATASETS:
        rows = training_data(load_data(name), None)
        with Progress() as progress:
            result = evaluate(
                MODELS,
                rows.features,
                rows.labels,
                cv=CV,
                random_state=SEED,
                name=rows.name,
                progress=progress.report,
            )
        click.echo(f"{rows.name}: {rows.size}\n{result.protocol}\n")
        click.echo(result.table() + "\n")
        for key, values in result.columns().items():
            columns.setdefault(key, []).extend(values)
    click.echo(result.legend() + "\n")
    write_table(path, columns)


def _ask(path: Path, report: Path) -> None:
    """Fit, save, load and report a classifier, and ask it about one flower."""
    from tanager.classifiers import BayesNetClassifier
    from tanager.cli._column_matching import load_classifier
    from tanager.cli._data import load_data, training_data
    from tanager.cli._show import summary

    rows = training_data(load_data("iris"), None)
    names = rows.features.names
    model = BayesNetClassifier.from_name("TAN+FE", random_state=SEED)
    model.fit(rows.features, rows.labels).save(path)
    model.report(report, rows.features, rows.labels, title="Iris flowers")
    network = load_classifier(str(path)).networks_[0]
    click.echo("A tree-augmented naive Bayes classifier for iris, saved and loaded\n")
    click.echo(summary([network]) + "\n")
    click.echo("P(class) of one flower, given more and more of its features\n")
    evidence: dict[str, object] = {}
    for name in (None, "sepal width (cm)", "petal width (cm)", "petal length (cm)"):
        known = "nothing"
        if name is not None:
            column = rows.features.column(names.index(name))
            evidence[name] = column.data[FLOWER].item()
            known = f"{name} = {evidence[name]}"
        posterior = network.posterior(evidence)
        shown = "  ".join(f"{state} {p:.3f}" for state, p in posterior.items())
        click.echo(f"  {known:<24} {shown}")
    likely = max(posterior, key=posterior.__getitem__)
    click.echo(
        f"\nMost probably a {likely}, without its sepal length; it is a "
        f"{rows.labels[FLOWER]}."
    )


@click.command()
@click.option("--folder", default=FOLDER, show_default=True, help="Where files go.")
def demo(folder: str) -> None:
    """Compare classifiers on embedded data; write a model and the results."""
    run(folder)


def main() -> None:
    """Run the demonstration as a command, its errors worded as everywhere."""
    # The usage line joins the names of the program and of the command.
    name = "tanager.cli.demo"
    Commands(commands={name: demo}).main([name, *sys.argv[1:]], prog_name="python -m")


if __name__ == "__main__":
    main()
