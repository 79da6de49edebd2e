"""The tables of general networks in docs/structure.md, from the files of results."""

from __future__ import annotations

from lab.studies.networks import accuracy, partitions, recovery
from lab.studies.parameters.tables import markdown, percent, unique

EMPTY_FIELDS = {"gaps": "missing value", "third value": "third category"}
"""What empty fields are in lab.studies.networks.partitions."""


def document() -> str:
    """All tables, in Markdown, each under its title."""
    tables = {
        "Networks found again": by_network(),
        "Accuracy": by_set(),
        "Accuracy in other folds": by_partition(),
    }
    return "\n\n".join(f"## {title}\n\n{table}" for title, table in tables.items())


def by_network() -> str:
    """Distances of all learners, and the seconds of the largest network."""
    found = recovery.results()
    distance, seconds = found.numbers("distance"), found.numbers("seconds")
    missing, extra = found.numbers("missing"), found.numbers("extra")
    columns = [
        (network, str(n_rows))
        for network in recovery.NETWORKS
        for n_rows in recovery.ROWS
    ]
    titles = [f"{network}, {int(n_rows):,}" for network, n_rows in columns]
    rows = []
    for learner in unique(key[-1] for key in distance):
        cells = [learner]
        for column in columns:
            key = (*column, learner)
            cells.append(
                f"{distance[key]:.0f} ({missing[key]:.0f} + {extra[key]:.0f})"
                if key in distance
                else ""
            )
        last = (*columns[-1], learner)
        rows.append([*cells, f"{seconds[last]:.2g}" if last in seconds else ""])
    return markdown(["learner", *titles, f"seconds ({titles[-1]})"], rows)


def by_set() -> str:
    """Accuracies set by set, and their means."""
    numbers = accuracy.results().numbers("accuracy")
    sets = sorted(unique(key[0] for key in numbers))
    structures = unique(key[1] for key in numbers)
    rows = [
        [name.split("/")[-1], *(percent(numbers[name, s]) for s in structures)]
        for name in sets
    ]
    means = [sum(numbers[n, s] for n in sets) / len(sets) for s in structures]
    rows.append(["mean", *map(percent, means)])
    return markdown(["dataset", *structures], rows)


def by_partition() -> str:
    """Accuracies of GBN in several partitions, and the arcs it has in the mean."""
    found = partitions.results()
    numbers, arcs = found.numbers("accuracy"), found.numbers("arcs")
    seeds = [str(seed) for seed in partitions.PARTITIONS]
    rows = []
    for name, gaps in unique(key[:2] for key in numbers):
        keys = [(name, gaps, seed) for seed in seeds]
        mean = sum(arcs[key] for key in keys) / len(keys)
        cells = [*(percent(numbers[key]) for key in keys), f"{mean:.0f}"]
        rows.append([name.split("/")[-1], EMPTY_FIELDS.get(gaps, gaps), *cells])
    titles = [f"partition {place + 1}" for place in range(len(seeds))]
    return markdown(["dataset", "empty fields", *titles, "arcs"], rows)
