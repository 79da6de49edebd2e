"""Files of an experiment: cells, tables, figures."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from lab.files import make_folder, write_bytes, write_text
from lab.runner.classifier_calls import calls_text
from lab.runner.experiment import Experiment
from lab.runner.results import Results, read, write
from lab.views import Table, View
from tanager import InputError

RESULTS = Path(__file__).resolve().parents[1] / "results"
"""The results that are kept with the lab."""

SIZE = (7.0, 4.5)


def write_all(
    folder: Path,
    experiment: Experiment,
    results: Results,
    view: View,
    *,
    measured: bool = True,
    made_by: str | None = None,
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
    made_by : str or None, default=None
        The versions of what measured the cells; None means the code of today.

    Returns
    -------
    list of Path
        The files.
    """
    own = folder / experiment.paper
    make_folder(own, option="--output")
    files = []
    if measured and experiment.cells_of is None:
        files.append(cells_file(folder, experiment))
        write(files[-1], results, made_by)
    files.append(own / f"{experiment.name}.csv")
    write_text(files[-1], view.tables[0].csv)
    if view.draw is not None:
        files.append(own / f"{experiment.name}.svg")
        write_bytes(files[-1], draw_svg(view))
    return files


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
    lines = [
        f"{experiment.full_name}: {experiment.title}",
        *report_claim(experiment, view),
    ]
    for table in view.tables[1:] or view.tables:
        lines += ["", *shown(table)]
    return "\n".join(lines)


ANSWERS = {True: "holds", False: "does not hold", None: "inconclusive"}
"""Whether a claim holds, in words."""


def report_claim(experiment: Experiment, view: View) -> list[str]:
    """Lines about the claim, its rule and verdict, what differs, and the calls."""
    lines = ["", f"**Claim.** {experiment.claim}"] if experiment.claim else []
    if experiment.rule:
        lines += ["", f"**Rule.** {experiment.rule}"]
    if view.verdict:
        lines += ["", f"**Here: {ANSWERS[view.holds]}.** {view.verdict}"]
    if experiment.differs:
        lines += ["", "**Differences.** " + " ".join(experiment.differs)]
    if made := calls_text(experiment):
        lines += ["", f"**Calls.** {made}."]
    return lines


def shown(table: Table) -> list[str]:
    """Lines of a table and its title."""
    return [*([table.title + ":", ""] if table.title else []), table.markdown]


def draw_svg(view: View) -> bytes:
    """The figure as SVG; the same view always gives the same bytes."""
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
    content = BytesIO()
    # Without a date and with fixed ids the same figure is the same file.
    with rc_context({"svg.hashsalt": "tanager"}):
        figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()
