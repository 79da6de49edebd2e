"""Files of an experiment: cells, tables, figures."""

from __future__ import annotations

from collections.abc import Collection
from io import BytesIO
from pathlib import Path

from lab.runner.experiment import Experiment
from lab.runner.results import Results, read, write
from lab.runner.versions import versions
from lab.views import Table, View
from tanager.errors import InputError
from tanager.utils.atomic_write import check_writable, write_bytes, write_text

FORMATS = ("svg", "png")
"""Vector and pixels."""

SIZE = (7.0, 4.5)
DPI = 150


def write_all(
    folder: Path,
    experiment: Experiment,
    results: Results,
    view: View,
    *,
    measured: bool = True,
    codes: Collection[str] = (),
) -> list[Path]:
    """Write what is known of an experiment, each file whole or not at all.

    Parameters
    ----------
    folder : Path
        Where the folders of the papers are; made if need be.
    experiment : Experiment
        Whose results these are.
    results : Results
        Its cells; written only if they are not those of another experiment.
    view : View
        Its tables and figure.
    measured : bool, default=True
        Whether the cells come from a run. Those that were read from the folder stay as
        they are, with the versions that measured them.
    codes : collection of str, default=()
        The versions of the code that measured the cells; empty means that of today.

    Returns
    -------
    list of Path
        The files.
    """
    own = folder / experiment.paper
    check_folder(own)
    files = []
    made_by = versions(codes) if measured else made_by_of(folder, experiment)
    if measured and experiment.cells_of is None:
        files.append(cells_file(folder, experiment))
        write(files[-1], results, made_by)
    files.append(own / f"{experiment.name}.csv")
    write_text(files[-1], view.tables[0].csv)
    files.append(own / f"{experiment.name}.md")
    write_text(files[-1], f"# {text(experiment, view)}\n\n{made_by}\n")
    if view.draw is not None:
        for kind, content in drawn(view).items():
            files.append(own / f"{experiment.name}.{kind}")
            write_bytes(files[-1], content)
    return files


def check_folder(folder: Path) -> None:
    """Make a folder if need be, and make sure that files can be written there.

    Raises
    ------
    InputError
        If it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Cannot make the folder '{folder}': {error.strerror or error}; name "
            "another one by --output."
        ) from error
    check_writable(folder / "table.md")


def read_saved(folder: Path, experiment: Experiment) -> Results:
    """The cells that `write_all` has written for an experiment."""
    return read(cells_file(folder, experiment))


def made_by_of(folder: Path, experiment: Experiment) -> str:
    """What measured the cells of an experiment, as their file says."""
    first = cells_file(folder, experiment).read_text("utf-8").partition("\n")[0]
    return first.lstrip("# ")


def cells_file(folder: Path, experiment: Experiment) -> Path:
    """Where the cells of an experiment are kept."""
    name = experiment.cells_of or experiment.name
    return folder / experiment.paper / f"{name}.cells.csv"


def text(experiment: Experiment, view: View) -> str:
    """An experiment in Markdown, without a mark before its title."""
    lines = [f"{experiment.full_name}: {experiment.title}", *told(experiment, view)]
    for table in view.tables[1:] or view.tables:
        lines += ["", *shown(table)]
    return "\n".join(lines)


ANSWERS = {True: "holds", False: "does not hold", None: "cannot be told"}
"""Whether a claim holds, in words."""


def told(experiment: Experiment, view: View) -> list[str]:
    """Lines about the claim, whether it holds here, and what differs."""
    lines = ["", f"**Claim.** {experiment.claim}"]
    if view.verdict:
        lines += ["", f"**Here it {ANSWERS[view.holds]}.** {view.verdict}"]
    if experiment.differs:
        lines += ["", "**What differs.** " + " ".join(experiment.differs)]
    return lines


def shown(table: Table) -> list[str]:
    """Lines of a table and its title."""
    return [*([table.title + ":", ""] if table.title else []), table.markdown]


def drawn(view: View) -> dict[str, bytes]:
    """The figure in all formats."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "Figures need matplotlib, which is not installed; install it with `pip "
            "install tanager[plot]`."
        ) from None
    assert view.draw is not None
    figure = Figure(figsize=SIZE, layout="constrained")
    FigureCanvasAgg(figure)
    view.draw(figure)
    made = {}
    for kind in FORMATS:
        content = BytesIO()
        # Without a date and with fixed ids the same figure is the same file.
        metadata = {"Date": None} if kind == "svg" else None
        with rc_context({"svg.hashsalt": "tanager"}):
            figure.savefig(content, format=kind, dpi=DPI, metadata=metadata)
        made[kind] = content.getvalue()
    return made
