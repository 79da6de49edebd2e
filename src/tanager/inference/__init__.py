"""Exact inference: log joint probabilities of rows with and without missing values."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = ["Engine", "engine_for", "log_marginal"]

if TYPE_CHECKING:
    from tanager.inference.elimination import log_marginal
    from tanager.inference.engine import Engine, engine_for
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".elimination": ("log_marginal",),
            ".engine": ("Engine", "engine_for"),
        },
    )  # fmt: skip
