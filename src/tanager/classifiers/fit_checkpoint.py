"""The checkpoint of a fit: what it depends on, and its samples with a journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from tanager._version import __version__
from tanager.errors import InputError
from tanager.utils.fingerprint import checksum, describe
from tanager.utils.progress import has_ended_early
from tanager.utils.validation import is_whole, random_generator

if TYPE_CHECKING:
    from tanager.classifiers.bayes_net import BayesNetClassifier
    from tanager.data.coded_data import ArrayData
    from tanager.data.partitioned_data import PartitionedData
    from tanager.network import AnyNetwork

FREE_ARGUMENTS = frozenset({"checkpoint", "max_seconds", "n_jobs", "verbose"})
"""Arguments that may change when a fit is resumed: results do not depend on them."""


@contextmanager
def resumable(
    model: BayesNetClassifier,
    data: ArrayData | PartitionedData,
    checkpoint: Any,
    former: AnyNetwork | None = None,
) -> Iterator[tuple[ArrayData | PartitionedData, np.random.Generator]]:
    """Samples and random numbers of a fit, whose statistics a checkpoint keeps.

    Without a checkpoint they are the given samples. `former` is the network that the
    fit starts from. The file is removed if the block ends without an exception, and no
    learner has ended early.
    """
    if checkpoint is None:
        yield data, random_generator(model.random_state)
        return
    from tanager.data.journaled_data import JournaledData
    from tanager.data.round_journal import RoundJournal

    if model.random_state is not None and not is_whole(model.random_state):
        raise InputError(
            "A fit with a checkpoint needs random_state=None or a whole number, got "
            f"{model.random_state!r}: another generator cannot be made again."
        )
    with RoundJournal(checkpoint, _fingerprint(model, data, former)) as journal:
        seed = journal.seed if model.random_state is None else model.random_state
        yield JournaledData(data, journal), random_generator(seed)
        if not has_ended_early():
            journal.remove()


def _fingerprint(
    model: BayesNetClassifier,
    data: ArrayData | PartitionedData,
    former: AnyNetwork | None,
) -> dict[str, Any]:
    """Everything that the network depends on, as JSON values."""
    from tanager.data.journaled_data import samples_checksum

    settings = model.get_params(deep=False)
    return {
        **{n: describe(v) for n, v in settings.items() if n not in FREE_ARGUMENTS},
        "tanager": __version__,
        "variables": _hash_text(repr(data.schema)),
        "samples": samples_checksum(data),
        "former network": None if former is None else _hash_network(former),
    }


def _hash_network(network: AnyNetwork) -> str:
    parameters = getattr(network, "parameters", None)
    values = None if parameters is None else checksum(parameters.log_theta)
    return _hash_text(f"{network.edges!r} {values}")


def _hash_text(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
