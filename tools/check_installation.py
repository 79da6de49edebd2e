"""Use an installed tanager from end to end, in a folder outside the checkout.

    python tools/check_installation.py             an installation without extras
    python tools/check_installation.py --extras    one with tanager[all]

Imports only tanager and what it requires. Fits, predicts, saves, loads, reports and
exports in Python, then the same with the command, on the embedded dataset.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

import numpy as np

import tanager
from tanager import BayesNetClassifier, TanagerError, datasets

TARGET = "species"
REQUIRED = (
    "click", "joblib", "narwhals", "numba", "numpy", "scikit-learn", "scipy",
    "threadpoolctl",
)  # fmt: skip
OPTIONAL = {
    "plot": "matplotlib",
    "arrow": "pyarrow",
    "onnx": "onnx",
    "excel": "openpyxl",
}


def main() -> None:
    """Run all checks; the first that fails ends the process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--extras", action="store_true", help="test the extras, too")
    extras = parser.parse_args().extras
    print_versions([*REQUIRED, *(OPTIONAL.values() if extras else ())])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            check_package()
            check_classifier()
            check_command()
            check_extras(installed=extras)
        finally:
            os.chdir(Path(folder).parent)
    print("The installation works.")


def print_versions(names: list[str]) -> None:
    """Print what is installed."""
    versions = [f"{name} {distribution(name).version}" for name in names]
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"tanager {tanager.__version__}, Python {python}, {', '.join(versions)}")


def check_package() -> None:
    """The package is installed, not imported from a checkout; its data are there."""
    place = Path(tanager.__file__).resolve()
    expect("site-packages" in place.parts, f"tanager is imported from {place}")
    expect(
        distribution("tanager").version == tanager.__version__, "the version differs"
    )
    package = files("tanager")
    for name in ("py.typed", "datasets/catalog.toml", "report/page/page.html"):
        expect((package / name).is_file(), f"{name} is not in the package")


def read_penguins() -> tuple[dict[str, list[object]], list[str]]:
    """Columns of features with None for missing values, and the classes."""
    data = datasets.load("penguins")
    columns = {name: list(data.X[name]) for name in data.feature_names}
    return columns, [str(label) for label in data.y]


def check_classifier() -> None:
    """Fit, predict, save, load, report and export, for factors and for a network."""
    X, y = read_penguins()
    for name in ("auto", "TAN-CMI-ML"):
        model = BayesNetClassifier.from_name(name, random_state=0).fit(X, y)
        p = model.predict_proba(X)
        expect(np.allclose(p.sum(axis=1), 1), f"{name}: probabilities do not sum to 1")
        expect(model.score(X, y) > 0.95, f"{name}: accuracy {model.score(X, y):.3f}")
        model.save("saved.json")
        again = tanager.load("saved.json").predict_proba(X)
        expect(np.array_equal(p, again), f"{name}: the loaded model differs")
        model.report("report.html", X, y)
        page = Path("report.html").read_text("utf-8")
        expect("</html>" in page, f"{name}: the report is not complete")
        expect("SELECT" in model.to_sql(complete=True), f"{name}: no SQL")
        expect("export" in model.to_js(), f"{name}: no JavaScript")
        expect("#include" in model.to_c(), f"{name}: no C")
        expect("<svg" in model.network_.to_svg(), f"{name}: no picture")


def check_command() -> None:
    """The same with the command, from a CSV file."""
    X, y = read_penguins()
    with Path("penguins.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*X, TARGET])
        for *values, label in zip(*X.values(), y, strict=True):
            writer.writerow(["" if is_missing(v) else v for v in values] + [label])
    expect("Commands:" in run("--help"), "--help lists no commands")
    expect(tanager.__version__ in run("--version"), "--version has another version")
    run("describe", "penguins.csv", "--target", TARGET)
    run("fit", "penguins.csv", "--target", TARGET, "-o", "model.json")
    expect("factors" in run("show", "model.json"), "show prints no factors")
    predictions = run("predict", "model.json", "penguins.csv").splitlines()
    expect(len(predictions) == len(y) + 1, "predict prints another number of rows")
    run("explain", "model.json", "penguins.csv", "--row", "3")
    run("report", "model.json", "penguins.csv", "-o", "command.html")
    run("plot", "model.json", "-o", "network.svg")
    run("export", "model.json", "--to", "sql", "-o", "score.sql")
    for name in ("command.html", "network.svg", "score.sql"):
        expect(Path(name).stat().st_size > 0, f"{name} is empty")


def is_missing(value: object) -> bool:
    """Whether a value is None or NaN."""
    return value is None or value != value


def check_extras(*, installed: bool) -> None:
    """Every extra does its work, or the error names the extra to install."""
    X, y = read_penguins()
    model = BayesNetClassifier(random_state=0).fit(X, y)
    if installed:
        write_tables(X)
    uses: dict[str, Callable[[], object]] = {
        "plot": lambda: run("plot", "model.json", "-o", "network.png"),
        "arrow": lambda: run("predict", "model.json", "penguins.parquet"),
        "onnx": lambda: model.to_onnx().SerializeToString(),
        "excel": lambda: run("predict", "model.json", "penguins.xlsx"),
    }
    for extra, use in uses.items():
        if installed:
            expect(bool(use()), f"tanager[{extra}] gives nothing")
            continue
        for suffix in ("parquet", "xlsx"):
            Path(f"penguins.{suffix}").write_bytes(b"PK\x03\x04")
        try:
            use()
        except (TanagerError, CommandError) as error:
            expect(f"tanager[{extra}]" in str(error), f"{extra}: {error}")
        else:
            raise SystemExit(f"Failed: {OPTIONAL[extra]} is installed; use --extras.")


def write_tables(X: dict[str, list[object]]) -> None:
    """Write the features as Parquet and Excel files."""
    columns = {n: [None if is_missing(v) else v for v in X[n]] for n in X}
    table = import_module("pyarrow").table(columns)
    import_module("pyarrow.parquet").write_table(table, "penguins.parquet")
    book = import_module("openpyxl").Workbook()
    for row in [tuple(columns), *zip(*columns.values(), strict=True)]:
        book.active.append(row)
    book.save("penguins.xlsx")


class CommandError(Exception):
    """A command ended with an error; the text is what it printed."""


def run(*arguments: str) -> str:
    """Run the installed command and return what it prints."""
    program = Path(sys.executable).with_name("tanager" + Path(sys.executable).suffix)
    done = subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CommandError(f"tanager {' '.join(arguments)}: {done.stderr}")
    return done.stdout or done.stderr


def expect(holds: bool, problem: str) -> None:
    """End the process with a message unless the condition holds."""
    if not holds:
        raise SystemExit(f"Failed: {problem}.")


if __name__ == "__main__":
    main()
