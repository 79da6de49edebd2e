"""``tanager warmup``: compile all kernels before they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tanager.cli._terminal import watch_work

if TYPE_CHECKING:
    from tanager.types import FloatArray, IntArray

INCOMPLETE = "TAN+EM"
"""The model that is also fitted to incomplete samples."""

MODELS = (
    "auto", "NB+FE", "NB+DFE", "NB+ELR", "NB-CL", "NB-RCL", "NB-SCL", "NB-MM",
    "TAN-CMI-ML", "TAN+ELR", INCOMPLETE, "TAN-RES-SCL", "2-tree-RES-SCL", "TAN-CR-ML",
    "2-tree-CR-ML", "TAN-CL-ML", "TAN-SuperParent-ML", "2-tree-SuperParent-ML",
    "TAN-OMI-CR-ML", "HGC+FE", "GBN+FE", "TAN-Gumbel-HYB",
)  # fmt: skip
"""Models that together use the kernels of all."""

N_FEATURES = 12
N_SAMPLES = 9_000
"""Size of the generated data; smaller data are fitted without kernels."""


@click.command()
@click.option(
    "--models",
    metavar="NAMES",
    help="Prepare these models only, separated by commas; 'auto' is the default model.",
)
def warmup(models: str | None) -> None:
    """Compile everything now, so that no later command waits for it.

    Small data need no compilation. For larger data kernels are compiled when they are
    first used, which takes a few seconds for the default model; they are kept on disk.
    This command fits models to generated data. Run it after an installation or while
    an image of a container is built.

    \b
    tanager warmup
    tanager warmup --models auto,TAN-CMI-ML
    """  # noqa: D301
    from tanager.registry import parse

    chosen = MODELS if models is None else [name.strip() for name in models.split(",")]
    for name in chosen:
        parse(name)  # unknown names are errors before long work
    _check_cache()
    from tanager.utils.compile_notice import NOTICE

    NOTICE.quiet = True
    tables = [_generate(n_classes) for n_classes in (2, 3)]
    work = [(name, table) for name in chosen for table in tables]
    with watch_work("warmup", quiet=False, progress=True) as shown:
        for done, (name, table) in enumerate(work):
            shown.announce(done, len(work), name)
            _use(name, *table)
    click.echo(
        f"Compiled {NOTICE.n_kernels} kernels in {NOTICE.seconds:.0f} s. Kernels of "
        "earlier runs were loaded from the cache."
    )


def _check_cache() -> None:
    """Raise an error where nothing is compiled, or nothing can be kept."""
    from tanager.errors import InputError
    from tanager.loglinear._factor_kernels import find_cells
    from tanager.utils.kernel_cache import is_kept

    if not hasattr(find_cells, "py_func"):
        raise InputError(
            "Compilation is switched off by NUMBA_DISABLE_JIT, so there is nothing to "
            "prepare. Unset the variable."
        )
    if not is_kept(find_cells):
        raise InputError(
            "Compiled kernels cannot be kept: neither the folder of the package nor "
            "the cache folder of the user can be written. Set NUMBA_CACHE_DIR to a "
            "folder of your own, now and in later runs."
        )


def _generate(n_classes: int) -> tuple[FloatArray, IntArray]:
    """Samples with an interaction of two features, and their classes."""
    import numpy as np

    random = np.random.default_rng(0)
    X = random.normal(size=(N_SAMPLES, N_FEATURES)).round(1)
    score = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=N_SAMPLES)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.digitize(score, cuts)


def _use(name: str, X: FloatArray, y: IntArray) -> None:
    """Fit a model, and predict complete and incomplete samples."""
    import warnings

    import numpy as np

    from tanager.classifiers import BayesNetClassifier

    incomplete = X.copy()
    incomplete[::2, 1] = incomplete[1::4, 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # iterations are few; nobody uses the models
        model = BayesNetClassifier.from_name(name, random_state=0)
        model.fit(incomplete if name == INCOMPLETE else X, y)
        model.predict_proba(X)
        model.predict_proba(incomplete)
