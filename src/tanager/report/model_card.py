"""`ModelCard`: what a user of a model should know of it, as data and as Markdown."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tanager._version import __version__
from tanager.errors import InputError
from tanager.model.schema import Variable
from tanager.network import AnyNetwork, LogLinearNetwork, Network
from tanager.report.assessment import Assessment, assess
from tanager.report.model_report import Training
from tanager.report.samples import ReportData
from tanager.types import CodeArray
from tanager.utils.text import escape_controls, one_line, pluralise, shorten

MOST_PARTS = 30
"""Factors or families that a card lists."""

MOST_FEATURES = 200
"""Features that a card lists."""

MOST_CLASSES = 50
"""Classes that a card counts."""

FEW_SAMPLES = 30
"""Samples of a class below which its metrics are noted as uncertain."""

WIDTH = 80
"""Characters of a name or of a value that are shown."""

MAX_SETTING = 300
"""Characters of an argument of the classifier that are shown."""

TO_FILL_IN = (
    ("Intended use", "What the model decides or supports, and for whom."),
    ("Out of scope", "Uses for which it was not built."),
    ("Training data", "Source, period, licence, and who is missing from it."),
    ("Sensitive features", "Which features concern people, and what was checked."),
    ("Oversight", "Who reviews predictions, and what happens to errors."),
    ("Contact", "Who answers questions, and when the model is reviewed."),
)
"""Sections that only a person can write, and what belongs there."""


@dataclass(frozen=True)
class CardFeature:
    """A feature of a model: its kind, its values, and what a missing value does."""

    name: str
    kind: str
    values: str
    missing: str


@dataclass(frozen=True)
class CardData:
    """The samples on which a model was assessed.

    Parameters
    ----------
    name : str
        Name of the dataset.
    n_samples : int
        Number of samples.
    fingerprint : str
        SHA-256 of their codes and labels.
    missing : tuple of (str, int)
        Features with missing or unknown values, and the number of these.
    class_counts : tuple of (str, int)
        Samples of every class; empty without labels.
    assessment : Assessment or None
        Metrics; None without labels.
    """

    name: str
    n_samples: int
    fingerprint: str
    missing: tuple[tuple[str, int], ...]
    class_counts: tuple[tuple[str, int], ...]
    assessment: Assessment | None


@dataclass(frozen=True)
class ModelCard:
    """A model in the form of a model card; `to_markdown` writes it.

    Parameters
    ----------
    title : str
        Heading.
    target : str
        The class variable.
    classes : tuple of (str, float)
        The classes, and the probability of each without any feature.
    features : tuple of CardFeature
        The features that take part.
    left_out : tuple of str
        Columns of the training data that take no part, such as identifiers.
    parts_name : str
        ``"factors"`` or ``"families"``.
    parts : tuple of (str, float or None)
        Factors with their importances, the largest first, or families.
    sizes : mapping from str to int
        Number of factors or arcs, and of parameters.
    settings, versions : mapping from str to str
        Arguments of the classifier, and versions of the software.
    data : CardData or None
        Samples with metrics, if they were given.
    limitations : tuple of str
        What is known to limit the model.

    See Also
    --------
    tanager.BayesNetClassifier.card : Makes it.

    References
    ----------
    Mitchell et al. (2019). Model cards for model reporting. FAT*, 220-229.
    """

    title: str
    target: str
    classes: tuple[tuple[str, float], ...]
    features: tuple[CardFeature, ...]
    left_out: tuple[str, ...]
    parts_name: str
    parts: tuple[tuple[str, float | None], ...]
    sizes: Mapping[str, int]
    settings: Mapping[str, str]
    versions: Mapping[str, str]
    data: CardData | None
    limitations: tuple[str, ...]

    def to_markdown(self) -> str:
        """The card as Markdown; names and values cannot end a cell or add markup."""
        head = [f"# {_text(self.title)}", ""]
        sizes = " and ".join(pluralise(n, name) for name, n in self.sizes.items())
        features = pluralise(len(self.features), "feature")
        head += [f"Predicts {_text(self.target)} from {features}, with {sizes}."]
        return "\n".join(
            [
                *head,
                *_sections_to_fill_in(),
                *self._of_data(),
                *_section("Limitations", [f"- {text}" for text in self.limitations]),
                *self._of_classes(),
                *self._of_features(),
                *self._of_parts(),
                *_section("Training", _table(("setting", "value"), self.settings)),
                *_section("Versions", _table(("software", "version"), self.versions)),
                "",
            ]
        )

    def __str__(self) -> str:
        return self.to_markdown()

    def _of_data(self) -> list[str]:
        if self.data is None:
            text = "No data were given: `tanager card model.json test.csv -o card.md`."
            return _section("Metrics", [text])
        data = self.data
        lines = _table(
            ("data", ""),
            {
                "name": data.name or "not named",
                "samples": f"{data.n_samples:,}",
                "fingerprint (SHA-256 of codes and labels)": data.fingerprint,
                "missing or unknown values": _count_text(data.missing),
            },
        )
        found = data.assessment
        if found is None:
            lines += ["", "The data have no classes, so there are no metrics."]
            return _section("Metrics", lines)
        estimates = {
            "accuracy": found.accuracy,
            "log loss": found.log_loss,
            "Brier score": found.brier,
        }
        lines += ["", "| metric | value | 95 % interval |", "|---|---|---|"]
        lines += [
            f"| {name} | {one.value:.4f} | {max(0.0, one.low):.4f} to {one.high:.4f} |"
            for name, one in estimates.items()
        ]
        note = (
            f"On {pluralise(found.n_samples, 'labelled sample')}. The file of a model "
            "does not say what it was trained on: if these are training samples, the "
            "metrics are too good."
        )
        return _section("Metrics", [*lines, "", note])

    def _of_classes(self) -> list[str]:
        counts = dict(self.data.class_counts) if self.data is not None else {}
        lines = ["| class | without features | samples |", "|---|---|---|"]
        for name, prior in self.classes[:MOST_CLASSES]:
            count = f"{counts[name]:,}" if name in counts else ""
            lines.append(f"| {_text(name)} | {prior:.4f} | {count} |")
        return _section("Classes", lines + _more(len(self.classes), MOST_CLASSES))

    def _of_features(self) -> list[str]:
        lines = ["| feature | kind | values | missing |", "|---|---|---|---|"]
        lines += [
            f"| {_text(one.name)} | {one.kind} | {_text(one.values)} | {one.missing} |"
            for one in self.features[:MOST_FEATURES]
        ]
        lines += _more(len(self.features), MOST_FEATURES)
        if self.left_out:
            names = ", ".join(_text(name) for name in self.left_out[:MOST_PARTS])
            lines += ["", f"Left out: {names}."]
            lines += _more(len(self.left_out), MOST_PARTS)
        return _section("Features", lines)

    def _of_parts(self) -> list[str]:
        has_importance = any(number is not None for _, number in self.parts)
        head = f"| {self.parts_name} |" + " importance |" * has_importance
        lines = [head, "|---|" + "---|" * has_importance]
        for name, number in self.parts[:MOST_PARTS]:
            cell = f" {number:.3f} |" if number is not None else ""
            lines.append(f"| {_text(name)} |{cell}")
        lines += _more(len(self.parts), MOST_PARTS)
        return _section(self.parts_name.capitalize(), lines)


def make_card(
    network: AnyNetwork,
    training: Training,
    data: ReportData | None = None,
    *,
    title: str = "",
) -> ModelCard:
    """Collect what is known of a model.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; its class is the last variable.
    training : Training
        How it was learned.
    data : ReportData or None, default=None
        Samples for the metrics.
    title : str, default=""
        Heading; by default made from the name of the class.
    """
    schema = network.schema
    if schema.target != len(schema) - 1:
        raise InputError(
            "The class must be the last variable of the network of a card; use "
            "network.with_target_last()."
        )
    target = schema.target_variable
    if isinstance(network, LogLinearNetwork):
        parts_name = "factors"
        parts: list[tuple[str, float | None]] = [
            (" x ".join(network.names_of(table)), table.importance)
            for table in network.by_importance()
        ]
    else:
        parts_name, parts = "families", _families(network)
    features = schema.variables[:-1]
    prior = network.posterior({})
    described = None if data is None else _describe_data(network, data)
    return ModelCard(
        title or f"Model card: {target.name}",
        target.name,
        tuple((str(state), float(prior[state])) for state in target.states),
        tuple(_describe(variable) for variable in features if not variable.is_left_out),
        tuple(variable.name for variable in features if variable.is_left_out),
        parts_name,
        tuple(parts),
        network.sizes,
        training.settings,
        {
            "tanager": __version__,
            "Python": platform.python_version(),
            "NumPy": np.__version__,
        },
        described,
        _limitations(network, described),
    )


def _describe(variable: Variable) -> CardFeature:
    if variable.cuts is not None:
        kind = variable.unit or "number"
        bins = pluralise(variable.n_values, "bin")
        values = f"{bins}: {', '.join(map(str, variable.states[: variable.n_values]))}"
    else:
        kind = "category"
        states = ", ".join(str(state) for state in variable.value_states)
        noun = "category" if variable.n_values == 1 else "categories"
        values = f"{variable.n_values:,} {noun}: {states}"
    missing = "a state of its own" if variable.missing_state else "not observed"
    return CardFeature(variable.name, kind, values, missing)


def _families(network: Network) -> list[tuple[str, float | None]]:
    """Every variable with its parents."""
    found: list[tuple[str, float | None]] = []
    for name in network.schema.names:
        parents = network.parents(name)
        found.append((f"{name} given {', '.join(parents)}" if parents else name, None))
    return found


def _describe_data(network: AnyNetwork, data: ReportData) -> CardData:
    schema = network.schema
    missing = _missing_counts(schema.variables[:-1], data.codes)
    counts: tuple[tuple[str, int], ...] = ()
    assessment = None
    if data.labels is not None and (known := data.labels >= 0).any():
        found = np.bincount(data.labels[known], minlength=schema.n_classes)
        states = schema.target_variable.states
        counts = tuple(
            (str(state), int(n)) for state, n in zip(states, found, strict=True)
        )
        assessment = assess(
            data.probabilities[known], data.labels[known], data.codes[known], schema
        )
    return CardData(
        data.name, len(data.codes), data.fingerprint, missing, counts, assessment
    )


def _missing_counts(
    features: Sequence[Variable], codes: CodeArray
) -> tuple[tuple[str, int], ...]:
    """Features with missing or unknown values, the most frequent first."""
    counts = [
        (variable.name, int((codes[:, j] >= variable.n_values).sum()))
        for j, variable in enumerate(features)
        if not variable.is_left_out
    ]
    return tuple(sorted((one for one in counts if one[1]), key=lambda one: -one[1]))


def _limitations(network: AnyNetwork, data: CardData | None) -> tuple[str, ...]:
    """What is known to limit the model, in words."""
    features = [v for v in network.schema.variables[:-1] if not v.is_left_out]
    found = []
    without = [v for v in features if not v.missing_state]
    if isinstance(network, LogLinearNetwork):
        how = (
            "the average weight of the training samples stands for it, and the scores "
            "are shrunk towards the frequencies of the classes"
        )
    else:
        how = "the feature is marginalised"
    if without:
        found.append(
            f"{pluralise(len(without), 'feature')} of {len(features)} had no missing "
            f"value in training. Where one is missing, {how}; that assumes that it is "
            "missing at random."
        )
    if len(without) < len(features):
        found.append(
            f"{pluralise(len(features) - len(without), 'feature')} had missing values "
            "in training, which are a state of their own: what they say of the class "
            "holds as long as values are missing for the same reasons."
        )
    if any(v.cuts is None for v in features):
        found.append(
            "Categories that training samples did not have are treated as not observed."
        )
    if any(v.cuts is not None for v in features):
        found.append(
            "Numbers beyond the range of the training samples are treated as the "
            "outermost bin."
        )
    found.append(
        "Probabilities hold for data like the training samples, with the same "
        "frequencies of the classes; effects are associations, not causes."
    )
    if data is not None and data.class_counts:
        rare = [name for name, n in data.class_counts if n < FEW_SAMPLES]
        if rare:
            shown = ", ".join(f"{_text(name)}" for name in rare[:10])
            more = f" and {len(rare) - 10} more" if rare[10:] else ""
            found.append(
                f"Metrics say little of classes with fewer than {FEW_SAMPLES} samples "
                f"in the data: {shown}{more}."
            )
    return tuple(found)


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def _sections_to_fill_in() -> list[str]:
    lines: list[str] = []
    for title, hint in TO_FILL_IN:
        lines += _section(title, [f"*To fill in: {hint}*"])
    return lines


def _table(head: tuple[str, str], rows: Mapping[str, str]) -> list[str]:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    return lines + [
        f"| {_text(key)} | {_text(text, MAX_SETTING)} |" for key, text in rows.items()
    ]


def _more(n: int, most: int) -> list[str]:
    return ["", f"And {n - most:,} more."] if n > most else []


def _count_text(counts: Sequence[tuple[str, int]]) -> str:
    if not counts:
        return "none"
    shown = ", ".join(f"{name} {n:,}" for name, n in counts[:10])
    more = f" and {len(counts) - 10} more features" if counts[10:] else ""
    return shorten(shown, WIDTH) + more


def _text(text: str, width: int = WIDTH) -> str:
    """Text of a user as Markdown that shows it: one line, no markup, HTML or links."""
    plain = shorten(escape_controls(one_line(text)), width)
    return _MARKS.sub(r"\\\1", plain)


_MARKS = re.compile(r"([\\`*_{}\[\]<>#|!&~$@]|:(?=//)|(?<=www)\.)")
"""Characters with a meaning in Markdown or HTML, and those that make links."""
