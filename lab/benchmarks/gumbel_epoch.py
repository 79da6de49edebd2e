"""One epoch of differentiable structure learning against a plain PyTorch loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from lab.benchmarks._data import image_set
from lab.benchmarks._harness import (
    Options,
    Row,
    Skip,
    best_of,
    faster,
    limit,
    shape_text,
)
from lab.benchmarks.hybrid_epoch import (
    ETA,
    GAMMA,
    LAMBDA,
    coded,
    torch_alone,
    torch_hybrid,
)
from tanager import GumbelTree
from tanager.data import ArrayData
from tanager.losses import HybridLoss

BATCH = 100
CANDIDATES = 8
LONG_RUN = 100
RATE, STRUCTURE_RATE = 3e-3, 1e-3
TEMPERATURE = 10.0
FASTER_THAN_TORCH = 20.0
FASTER_THAN_TENSORFLOW = 15.0

TENSORFLOW = 1.59
"""Published seconds of an epoch of the authors' code (wroth8/bnc on TensorFlow 2.21),
TAN Subset with 8 candidates on the 13,342 training samples of letter; of their first
epoch 17. On usps no epoch ended within 130 seconds."""

Choices = Mapping[int, Sequence[int]]
"""The candidates of every feature, besides no feature parent."""


def run(options: Options) -> list[Row]:
    """Epochs from the start of a run, where all structures are alike probable."""
    rows = []
    for name in ("letter", "usps"):
        rows += compared(name, options)
    return rows


def compared(name: str, options: Options) -> list[Row]:
    """Ours, less its preparations, and the loop, in turn, on one of the datasets."""
    X, y, _, _ = image_set(name)
    if options.quick:
        X, y = X[:1000, :40], y[:1000]
    data = coded(X - 1, y)
    order, choices = drawn(X.shape[1], np.random.default_rng(0))
    epochs = options.pick(10, 2)
    actions: dict[str, Callable[[], object]] = {
        "one": ours(data, order, choices, 1),
        "more": ours(data, order, choices, 1 + epochs),
    }
    what = f"TAN Subset {CANDIDATES}, an epoch of batches of {BATCH}, {name}"
    rows = []
    try:
        actions["torch"] = torch_epoch(data, choices)
    except Skip as reason:
        rows.append(Row(f"{what}, PyTorch skipped: {reason}", ""))
    times = best_of(actions, options.pick(3, 1))
    each = max(times["more"] - times["one"], 1e-9) / epochs
    if "torch" in times:
        rows.append(
            faster(
                f"{what}, {shape_text(X)}",
                each,
                times["torch"],
                name="PyTorch",
                at_least=FASTER_THAN_TORCH,
            )
        )
    if name == "letter":
        rows.append(
            faster(
                f"{what}, {shape_text(X)}",
                each,
                TENSORFLOW,
                name="TensorFlow, published",
                at_least=FASTER_THAN_TENSORFLOW,
            )
        )
        many = options.pick(LONG_RUN, 4)
        began = perf_counter()
        ours(data, order, choices, many)()
        whole = (perf_counter() - began) / many
        rows.append(limit(f"{what}, mean over a run of {many}", whole))
    return rows


def drawn(n_features: int, random: np.random.Generator) -> tuple[list[int], Choices]:
    """A random order, and for every feature at most so many before it."""
    order = random.permutation(n_features).tolist()
    return order, {
        feature: random.permutation(order[:place])[:CANDIDATES].tolist()
        for place, feature in enumerate(order)
    }


def ours(
    data: ArrayData, order: Sequence[int], choices: Choices, epochs: int
) -> Callable[[], object]:
    """A run of so many epochs on these candidates."""
    names = [variable.name for variable in data.schema]
    learner = GumbelTree(
        HybridLoss(lambda_=LAMBDA, gamma=GAMMA, eta=ETA),
        order=[names[j] for j in order],
        candidates={names[j]: [names[p] for p in of] for j, of in choices.items()},
        n_candidates=CANDIDATES,
        epochs=epochs,
        batch_size=BATCH,
        rate=RATE,
        structure_rate=STRUCTURE_RATE,
        start="random",
    )
    return lambda: learner.learn(data, random_state=np.random.default_rng(0))


def torch_epoch(data: ArrayData, choices: Choices) -> Callable[[], None]:
    """The loop one would write: per feature the tables of all candidates in a tensor.

    One softmax and one look-up serve all candidates of a feature; a table of its own
    for each of them would take 1.7 times as long on letter and 2.7 times on usps.
    """
    torch = torch_alone()
    n_classes = data.schema.n_classes
    n_features = data.codes.shape[1]
    # A last column of zeros is the parent of those who have none.
    states = [*data.schema.n_states[:-1].tolist(), 1]
    X = torch.zeros(len(data.codes), n_features + 1, dtype=torch.int64)
    X[:, :-1] = torch.from_numpy(np.ascontiguousarray(data.codes).astype(np.int64))
    y = torch.from_numpy(data.labels.astype(np.int64))
    parents = [[n_features, *choices[j]] for j in range(n_features)]
    # Axes (parent states of all candidates, state, class).
    tables = [
        torch.zeros(sum(states[p] for p in of), states[j], n_classes)
        .uniform_(-0.1, 0.1)
        .requires_grad_()
        for j, of in enumerate(parents)
    ]
    begins = [
        torch.tensor(np.cumsum([0, *(states[p] for p in of[:-1])])) for of in parents
    ]
    prior = torch.zeros(n_classes, requires_grad=True)
    log_phi = [torch.zeros(len(of), requires_grad=True) for of in parents]
    adam = torch.optim.Adam([prior, *tables], lr=RATE)
    adam_of_structure = torch.optim.Adam(log_phi, lr=STRUCTURE_RATE)

    def joint_of(codes: Any) -> Any:
        joint = torch.log_softmax(prior, dim=0).expand(len(codes), -1)
        for j, of in enumerate(parents):
            # One-hot by the greatest; backwards, the softmax at this temperature.
            chosen = torch.nn.functional.gumbel_softmax(
                log_phi[j], tau=TEMPERATURE, hard=True
            )
            log_theta = torch.log_softmax(tables[j], dim=1)
            terms = log_theta[begins[j] + codes[:, of], codes[:, j, None]]
            joint = joint + torch.einsum("k,mkc->mc", chosen, terms)
        return joint

    def epoch() -> None:
        for rows in torch.randperm(len(y)).split(BATCH):
            loss = torch_hybrid(joint_of(X[rows]), y[rows])
            adam.zero_grad()
            adam_of_structure.zero_grad()
            loss.backward()
            adam.step()
            adam_of_structure.step()

    return epoch
