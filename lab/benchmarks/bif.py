"""Reading and writing networks as BIF: the largest of the repository."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from lab.benchmarks._data import data_folder
from lab.benchmarks._harness import Action, Options, Row, best_of, cost, faster, limit
from tanager.io import read_bif, read_xmlbif, write_bif, write_xmlbif

REQUIRED_SECONDS = 0.3


def run(options: Options) -> list[Row]:
    """Read ``andes`` with each program, the files being warm."""
    path = data_folder() / "networks" / "andes.bif"
    repeats = options.pick(10, 2)
    with tempfile.TemporaryDirectory() as folder:
        return _rows(path, Path(folder), repeats)


def _rows(path: Path, folder: Path, repeats: int) -> list[Row]:
    network = read_bif(path)
    written = folder / "andes.xmlbif"
    write_xmlbif(written, network)
    actions: dict[str, Action] = {
        "ours": lambda: read_bif(path),
        "xml": lambda: read_xmlbif(written),
        "write": lambda: write_bif(folder / "andes.bif", network),
    }
    with contextlib.suppress(ImportError):
        import pyagrum

        actions["pyAgrum"] = lambda: pyagrum.loadBN(str(path))
    with contextlib.suppress(ImportError):
        from pgmpy.readwrite import BIFReader

        actions["pgmpy"] = lambda: BIFReader(str(path)).get_model()
    times = best_of(actions, repeats)
    what = "read andes.bif (223 variables)"
    rows = [limit(what, times["ours"], REQUIRED_SECONDS)]
    for name, compared in (("pyAgrum", cost), ("pgmpy", faster)):
        if name in times:
            rows.append(compared(what, times["ours"], times[name], name=name))
    rows.append(limit("read andes as XMLBIF", times["xml"]))
    rows.append(limit("write andes.bif", times["write"]))
    return rows
