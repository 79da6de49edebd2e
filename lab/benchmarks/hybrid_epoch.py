"""One epoch of the hybrid loss on a TAN against a plain PyTorch loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lab.benchmarks._data import image_set
from lab.benchmarks._harness import Options, Row, Skip, best_of, faster, shape_text
from tanager import ChowLiu, LossMinimizer, Schema, Structure, Variable
from tanager.data import ArrayData
from tanager.losses import HybridLoss

BATCH = 100
RATE = 3e-3
LAMBDA, GAMMA, ETA = 10.0, 1.0, 10.0
REQUIRED = 20.0


def run(options: Options) -> list[Row]:
    """Epochs of our learner, less its preparations, and of the loop, in turn."""
    X, y, _, _ = image_set("usps")
    if options.quick:
        X, y = X[:1000, :40], y[:1000]
    data = coded(X, y)
    structure = ChowLiu().learn(data, random_state=None).structure
    loop = torch_epoch(data, structure)
    epochs = options.pick(10, 2)

    def ours(n_epochs: int) -> Callable[[], object]:
        loss = HybridLoss(lambda_=LAMBDA, gamma=GAMMA, eta=ETA)
        learner = LossMinimizer(loss=loss, epochs=n_epochs, batch_size=BATCH, rate=RATE)
        random = np.random.default_rng(0)
        return lambda: learner.learn(structure, data, random_state=random)

    times = best_of(
        {"one": ours(1), "more": ours(1 + epochs), "torch": loop},
        options.pick(5, 1),
    )
    per_epoch = max(times["more"] - times["one"], 1e-9) / epochs
    return [
        faster(
            f"HYB on TAN, an epoch of batches of {BATCH}, usps, {shape_text(X)}",
            per_epoch,
            times["torch"],
            name="PyTorch",
            at_least=REQUIRED,
        )
    ]


def coded(X: Any, y: Any) -> ArrayData:
    """The samples with every code of every feature as a state."""
    features = [
        Variable(f"x{j}", tuple(range(int(top) + 1))) for j, top in enumerate(X.max(0))
    ]
    target = Variable("class", tuple(range(int(y.max()) + 1)))
    schema = Schema((*features, target), target=len(features))
    return ArrayData(schema, np.asfortranarray(X), y)


def torch_alone() -> Any:
    """PyTorch with a single thread, as ours; on small tensors more slow it down."""
    try:
        import torch
    except ImportError:
        raise Skip("needs PyTorch; install torch") from None
    torch.set_num_threads(1)
    return torch


def torch_hybrid(joint: Any, labels: Any) -> Any:
    """Mean hybrid loss of tensors: log joints of samples and classes, and labels."""
    own = joint.gather(1, labels[:, None])[:, 0]
    others = joint.scatter(1, labels[:, None], float("-inf"))
    best = (ETA * others).logsumexp(dim=1) / ETA
    margin = (GAMMA - (own - best)).relu()
    return (LAMBDA * margin - own).mean()


def torch_epoch(data: ArrayData, structure: Structure) -> Callable[[], None]:
    """The loop one would write: a table per feature, automatic differentiation."""
    torch = torch_alone()
    n_classes = data.schema.n_classes
    states = data.schema.n_states.tolist()
    # Axes (parent, state, class), a single parent state where there is no parent.
    parents = [
        next((v for v in structure.parents[j] if v != data.schema.target), None)
        for j in data.schema.features
    ]
    tables = [
        torch.zeros(1 if p is None else states[p], states[j], n_classes)
        .uniform_(-0.1, 0.1)
        .requires_grad_()
        for j, p in enumerate(parents)
    ]
    prior = torch.zeros(n_classes, requires_grad=True)
    adam = torch.optim.Adam([prior, *tables], lr=RATE)
    X = torch.from_numpy(np.ascontiguousarray(data.codes).astype(np.int64))
    y = torch.from_numpy(data.labels.astype(np.int64))

    def epoch() -> None:
        for rows in torch.randperm(len(y)).split(BATCH):
            codes, labels = X[rows], y[rows]
            joint = torch.log_softmax(prior, dim=0).expand(len(rows), -1)
            for j, p in enumerate(parents):
                log_theta = torch.log_softmax(tables[j], dim=1)
                above = torch.zeros_like(labels) if p is None else codes[:, p]
                joint = joint + log_theta[above, codes[:, j]]
            loss = torch_hybrid(joint, labels)
            adam.zero_grad()
            loss.backward()
            adam.step()

    return epoch
