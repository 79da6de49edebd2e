"""`to_c`: a classifier as one C99 file without dependencies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tanager._version import __version__
from tanager.errors import CapabilityError, InputError
from tanager.export.factor_pruning import prune_factors
from tanager.export.feature_tree import ClassTree, read_tree
from tanager.export.quantization import QuantizedTable, check_bits, quantize
from tanager.export.score_terms import ScoreTerms
from tanager.network import AnyNetwork, LogLinearNetwork
from tanager.types import AnyArray

C_TYPES = {
    "int8": "signed char", "int16": "short", "int32": "int", "uint8": "unsigned char",
    "uint16": "unsigned short", "uint32": "unsigned int", "float32": "float",
    "float64": "double",
}  # fmt: skip
"""C's names of the types of arrays."""

RANGE = 32.0
"""Logarithms that are so much below the largest of a CPT are raised to that."""


@dataclass(frozen=True)
class CSource:
    """A C file.

    Parameters
    ----------
    text : str
        The source.
    n_bytes : int
        Size of its tables, without names, code and the texts of categories.
    network : Network or LogLinearNetwork
        The model in the file, before its numbers are rounded: without the factors that
        did not fit.
    bits : int
        Bits of a number in the tables.
    """

    text: str
    n_bytes: int
    network: AnyNetwork
    bits: int


def to_c(
    network: AnyNetwork,
    *,
    name: str = "model",
    bits: int = 32,
    complete: bool = False,
    max_bytes: int | None = None,
) -> CSource:
    """Write a classifier as one C99 file that needs only the standard library.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model. Its class must be the last variable and have no parents.
    name : str, default="model"
        Prefix of all names in the file.
    bits : {8, 16, 32, 64}, default=32
        Bits of a number in the tables: 8 and 16 are integers with a scale for each
        table, 32 and 64 floating point. Cut points are double with 64 bits, and float
        otherwise.
    complete : bool, default=False
        Accept that samples without a feature that is a parent of others get no
        prediction. Otherwise trees marginalise such features.
    max_bytes : int or None, default=None
        Size that the tables must not exceed. Of a sum of factors, such as the default
        model, the most important ones that fit are kept (`prune_factors`), without
        fitting them again: measure what that costs with `measure_rounding`.

    Returns
    -------
    CSource
        The text and the size of its tables. ``NAME_predict(values, probabilities)``
        fills the probabilities and returns the position of the most probable class, or
        -1; ``NAME_category(feature, text)`` gives the number of a category.

    Raises
    ------
    CapabilityError
        If the scores of the model are no sum of tables, if it would have to
        marginalise features, is no tree, and `complete` is False, or if the tables
        exceed `max_bytes`.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", "grey", "grey", None], "wind": [3.0, 9.0, 8.5, 2.0]}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, [0, 1, 1, 0])
    >>> source = to_c(model.network_, bits=8)
    >>> "int model_predict(const double *values" in source.text, source.n_bytes < 100
    (True, True)
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise InputError(
            "name must be a name in C, of letters, digits and underscores, got "
            f"{name!r}."
        )
    check_bits(bits)
    if max_bytes is not None:
        return _limited_source(network, name, bits, complete, max_bytes)
    return _full_source(network, name, bits, complete)


def _limited_source(
    network: AnyNetwork, name: str, bits: int, complete: bool, max_bytes: int
) -> CSource:
    """The file with the factors that fit."""
    if max_bytes < 1:
        raise InputError(f"max_bytes must be at least 1, got {max_bytes!r}.")
    if not isinstance(network, LogLinearNetwork):
        source = _full_source(network, name, bits, complete)
        if source.n_bytes <= max_bytes:
            return source
        fewer = "bits=8, " if bits > 8 else ""
        raise CapabilityError(
            f"The tables of this network take {source.n_bytes:,} bytes with {bits} "
            f"bits, more than max_bytes={max_bytes:,}. Use {fewer}fewer bins, fewer "
            "parents or naive Bayes; only of the default model, a sum of factors, can "
            "some be left out."
        )
    # The size of what is kept is not exactly that of the file: features share cut
    # points, and positions take one byte or two.
    low, high = 0, 2 * max_bytes
    best = _full_source(prune_factors(network, 0, bits), name, bits, complete)
    if best.n_bytes > max_bytes:
        raise CapabilityError(
            f"Even without any factor the tables take {best.n_bytes:,} bytes, more "
            f"than max_bytes={max_bytes:,}; allow more."
        )
    while high - low > max(1, max_bytes // 200):
        middle = (low + high) // 2
        pruned = prune_factors(network, middle, bits)
        source = _full_source(pruned, name, bits, complete)
        if source.n_bytes <= max_bytes:
            best, low = source, middle
        else:
            high = middle
    return best


def _full_source(network: AnyNetwork, name: str, bits: int, complete: bool) -> CSource:
    """The file with all tables."""
    terms = ScoreTerms.of_network(network)
    if not terms.needed or complete:
        return _Writer(name, bits, terms).source(network, _sum_scores)
    tree = read_tree(network)
    if tree is None:
        raise CapabilityError(
            "This network marginalises missing features, which the C code does for "
            "trees only. If values are never missing, use complete=True (on the "
            "command line --complete); otherwise export the default model, naive "
            "Bayes or a tree."
        )
    return _Writer(name, bits, tree.terms).source(
        network, lambda writer: _tree_scores(writer, tree)
    )


@dataclass(eq=False)
class _Writer:
    """Collects the tables of a file, and writes what all models share."""

    name: str
    bits: int
    terms: ScoreTerms
    tables: list[str] = field(default_factory=list)
    n_bytes: int = 0

    def array(self, name: str, values: npt.NDArray[np.generic]) -> str:
        """Add a constant array, and give its name."""
        flat = values.ravel()
        kind = C_TYPES[str(flat.dtype)]
        if flat.dtype.kind == "f":
            texts = [f"{value!r}" for value in flat.astype(np.float64).tolist()]
        else:
            texts = [str(value) for value in flat.tolist()]
        lines = [", ".join(texts[i : i + 12]) for i in range(0, len(texts), 12)]
        body = ",\n  ".join(lines) if lines else "0"
        full = f"{self.name}_{name}"
        size = max(1, len(flat))
        self.tables.append(f"static const {kind} {full}[{size}] = {{\n  {body}\n}};")
        self.n_bytes += flat.nbytes
        return full

    def integers(self, name: str, values: AnyArray | list[int]) -> str:
        """Add integers, in the smallest type that holds them."""
        array = np.asarray(values, dtype=np.int64)
        low, high = int(array.min(initial=0)), int(array.max(initial=0))
        kinds = ("u1", "u2", "i4") if low >= 0 else ("i1", "i2", "i4")
        fitting = [
            k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max
        ]
        return self.array(name, array.astype(fitting[0]))

    def numbers(self, name: str, parts: list[AnyArray]) -> str:
        """Add tables of numbers with one scale for each part."""
        found: list[QuantizedTable] = [quantize(part, self.bits) for part in parts]
        joined = [np.zeros(0, found[0].numbers.dtype if found else "i1")]
        joined += [table.numbers.ravel() for table in found]
        self.array(name, np.concatenate(joined))
        factor = "1.0"
        if self.bits < 32:
            scales = np.array([table.scale for table in found], dtype=np.float32)
            factor = f"((double){self.array(f'{name}_scale', scales)}[t])"
        self.tables.append(f"#define {self.name}_{name}_factor(t) {factor}")
        return f"{self.name}_{name}"

    def source(
        self, network: AnyNetwork, write_scores: Callable[[_Writer], str]
    ) -> CSource:
        """The whole file; `write_scores` gives the body that adds up the scores."""
        codes = self._codes()
        body = write_scores(self)
        head = self._head()
        tail = _TAIL.format(
            name=self.name,
            n_classes=self.terms.n_classes,
            expand=_EXPAND if len(self.terms.prior) < self.terms.n_classes else "",
        )
        text = "\n\n".join([head, *self.tables, codes, body, tail])
        return CSource(text + "\n", self.n_bytes, network, self.bits)

    def _head(self) -> str:
        lines = [f"/* A classifier, written by tanager {__version__}.", " *"]
        lines += [" * values[], in this order:"]
        for j, variable in enumerate(self.terms.features):
            kind = "number" if variable.cuts is not None else "category"
            lines.append(f" *   {j}: {_comment(variable.name)} ({kind})")
        lines += [
            f" * Categories are numbered: {self.name}_category(feature, text), -1 for",
            " * an unknown one. NAN is a missing value.",
            f" * {self.name}_predict fills probabilities[{self.terms.n_classes}] and",
            " * returns the position of the most probable class, -1 for no prediction.",
            " * Compile as C99 and link the mathematics library (-lm). */",
            "#include <math.h>",
            "#include <string.h>",
            "",
            f"#define {self.name.upper()}_N_FEATURES {len(self.terms.features)}",
            f"#define {self.name.upper()}_N_CLASSES {self.terms.n_classes}",
            "",
            f"const char *const {self.name}_features[] = {{",
            *(f"  {_string(v.name)}," for v in self.terms.features),
            *(["  0"] if not self.terms.features else []),
            "};",
            f"const char *const {self.name}_classes[] = {{",
            *(f"  {_string(str(state))}," for state in self.terms.target.states),
            "};",
        ]
        return "\n".join(lines)

    def _codes(self) -> str:
        """Arrays and the function from values to codes."""
        features = self.terms.features
        cuts = [np.asarray(v.cuts or (), dtype=np.float64) for v in features]
        starts = np.cumsum([0, *(len(c) for c in cuts)])
        kind = np.float64 if self.bits == 64 else np.float32
        self.array("cuts", np.concatenate([np.empty(0), *cuts]).astype(kind))
        self.integers("cut_start", starts)
        self.integers("is_number", [v.cuts is not None for v in features])
        self.integers("n_values", [v.n_values for v in features])
        self.integers("n_states", [v.n_states for v in features])
        self.integers("missing_code", [v.missing_code for v in features])
        texts = [
            _string(str(state))
            for v in features
            if v.cuts is None
            for state in v.value_states
        ]
        counts = [0 if v.cuts is not None else v.n_values for v in features]
        self.integers("category_start", np.cumsum([0, *counts]))
        listed = ",\n  ".join(texts) if texts else '""'
        self.tables.append(
            f"static const char *const {self.name}_categories[] = {{\n  {listed}\n}};"
        )
        compare = "double" if self.bits == 64 else "float"
        return _CODES.replace("NAME", self.name).replace("REAL", compare)


def _sum_scores(writer: _Writer) -> str:
    """The body for models whose scores are sums of tables."""
    terms = writer.terms
    axes: dict[tuple[int, ...], int] = {}
    all_bins: list[int] = []
    rows = []
    term_start = [0]
    for term in terms.terms:
        for axis, stride in zip(term.axes, term.strides, strict=True):
            if axis.bins not in axes:
                axes[axis.bins] = len(all_bins)
                all_bins += [b if b >= 0 else max(axis.bins) + 1 for b in axis.bins]
            rows.append((axis.feature, axes[axis.bins], stride, axis.n_bins))
        term_start.append(len(rows))
    writer.integers("bins", all_bins)
    for column, name in enumerate(("feature", "bin_start", "stride", "n_bins")):
        writer.integers(f"axis_{name}", [row[column] for row in rows])
    writer.integers("term_axis", term_start)
    sizes = np.cumsum([0, *(len(term.weights) for term in terms.terms)])
    writer.integers("term_cell", sizes)
    writer.numbers("weights", [term.weights for term in terms.terms])
    writer.array("prior", terms.prior.astype(np.float64))
    shrinks = terms.variance_scale > 0.0
    if shrinks:
        spreads = [
            np.zeros_like(t.weights) if t.variances is None else t.variances
            for t in terms.terms
        ]
        writer.numbers("variances", spreads)
    text = _SUM.replace("SHRINK", _SHRINK if shrinks else "")
    text = text.replace("SPREAD", _SPREAD if shrinks else "")
    text = text.replace(
        "VARIANCES", "double variance[COLUMNS] = {0};" if shrinks else ""
    )
    text = text.replace("SCALE", repr(terms.variance_scale))
    return (
        text.replace("COLUMNS", str(terms.n_columns))
        .replace("TERMS", str(len(terms.terms)))
        .replace("NAME", writer.name)
    )


def _tree_scores(writer: _Writer, tree: ClassTree) -> str:
    """The body for trees, which passes messages from the leaves to the roots."""
    n_features = len(tree.parents)
    inbox = [cpt.shape[1] * cpt.shape[2] for cpt in tree.log_cpts]
    writer.integers("order", list(tree.order))
    writer.integers("parent", list(tree.parents))
    writer.integers("has_children", [j in tree.parents for j in range(n_features)])
    writer.integers("inbox_start", np.cumsum([0, *inbox]))
    weights, means = tree.class_weights, tree.class_means
    writer.integers("mean_start", np.cumsum([0, *(mean.size for mean in means)]))
    writer.integers("cpt_start", np.cumsum([0, *(w.size for w in weights)]))
    writer.numbers("weights", list(weights))
    if writer.bits < 32:  # states as good as impossible would cost the others digits
        means = tuple(np.maximum(mean, mean.max() - RANGE) for mean in means)
    writer.numbers("means", list(means))
    writer.array("prior", tree.terms.prior.astype(np.float64))
    entry = _ENTRY_OF_TWO if tree.terms.n_classes == 2 else _ENTRY
    return (
        (entry + _TREE)
        .replace("CLASSES", str(tree.terms.n_classes))
        .replace("FEATURES", str(n_features))
        .replace("INBOX", str(sum(inbox)))
        .replace("NAME", writer.name)
    )


def _string(text: str) -> str:
    """A string of C, as UTF-8; bytes that are no plain letters are octal numbers."""
    plain = set(range(32, 127)) - {ord('"'), ord("\\"), ord("?")}
    return (
        '"'
        + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode())
        + '"'
    )


def _comment(text: str) -> str:
    """Text that cannot end a comment."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown.replace("*/", "* /").replace("/*", "/ *")


_CODES = """static int NAME_code(int j, double value) {
  if (isnan(value)) return NAME_missing_code[j];
  if (NAME_is_number[j]) {
    int low = NAME_cut_start[j], high = NAME_cut_start[j + 1];
    const REAL x = (REAL)value;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (NAME_cuts[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low - NAME_cut_start[j];
  }
  if (value < 0 || value >= NAME_n_values[j]) return NAME_n_states[j];
  return (int)value;
}

int NAME_category(int feature, const char *text) {
  const int start = NAME_category_start[feature];
  for (int i = start; i < NAME_category_start[feature + 1]; i++)
    if (strcmp(NAME_categories[i], text) == 0) return i - start;
  return -1;
}"""

_SUM = """static int NAME_scores(const double *values, double *scores) {
  VARIANCES
  for (int c = 0; c < COLUMNS; c++) scores[c] = 0;
  for (int t = 0; t < TERMS; t++) {
    int cell = NAME_term_cell[t];
    for (int a = NAME_term_axis[t]; a < NAME_term_axis[t + 1]; a++) {
      const int j = NAME_axis_feature[a];
      const int bin = NAME_bins[NAME_axis_bin_start[a] + NAME_code(j, values[j])];
      if (bin >= NAME_axis_n_bins[a]) return 0; /* would have to be marginalised */
      cell += bin * NAME_axis_stride[a];
    }
    for (int c = 0; c < COLUMNS; c++) {
      scores[c] += NAME_weights_factor(t) * NAME_weights[cell * COLUMNS + c];
      SPREAD
    }
  }
  SHRINK
  for (int c = 0; c < COLUMNS; c++) scores[c] += NAME_prior[c];
  return 1;
}"""

_SPREAD = (
    "variance[c] += NAME_variances_factor(t) * NAME_variances[cell * COLUMNS + c];"
)

_SHRINK = """double mean = 0;
  for (int c = 0; c < COLUMNS && COLUMNS > 1; c++) mean += scores[c] / COLUMNS;
  for (int c = 0; c < COLUMNS; c++)
    scores[c] = (scores[c] - mean) / sqrt(1 + SCALE * variance[c]);"""

_ENTRY = """static double NAME_log_cpt(int j, int entry, int c) {
  return NAME_means_factor(j) * NAME_means[NAME_mean_start[j] + entry]
         + NAME_weights_factor(j)
               * NAME_weights[NAME_cpt_start[j] + entry * CLASSES + c];
}

"""

_ENTRY_OF_TWO = """static double NAME_log_cpt(int j, int entry, int c) {
  return NAME_means_factor(j) * NAME_means[NAME_mean_start[j] + entry]
         + (c - 0.5) * NAME_weights_factor(j)
               * NAME_weights[NAME_cpt_start[j] + entry];
}

"""

_TREE = """static int NAME_scores(const double *values, double *scores) {
  double inbox[INBOX] = {0};
  int code[FEATURES];
  for (int c = 0; c < CLASSES; c++) scores[c] = NAME_prior[c];
  for (int j = 0; j < FEATURES; j++) code[j] = NAME_code(j, values[j]);
  for (int i = 0; i < FEATURES; i++) {
    const int j = NAME_order[i], p = NAME_parent[j], n = NAME_n_states[j];
    const double *own = inbox + NAME_inbox_start[j];
    if (code[j] >= n && !NAME_has_children[j]) continue; /* sums to one */
    const int known = p >= 0 && code[p] < NAME_n_states[p];
    const int first = known ? code[p] : 0;
    const int last = known ? first + 1 : p >= 0 ? NAME_n_states[p] : 1;
    for (int v = first; v < last; v++) {
      for (int c = 0; c < CLASSES; c++) {
        double message;
        if (code[j] < n) {
          const int u = code[j];
          message = NAME_log_cpt(j, v * n + u, c) + own[u * CLASSES + c];
        } else {
          double largest = -INFINITY, total = 0;
          for (int u = 0; u < n; u++)
            if (own[u * CLASSES + c] > largest) largest = own[u * CLASSES + c];
          for (int u = 0; u < n; u++)
            total += exp(NAME_log_cpt(j, v * n + u, c)
                         + own[u * CLASSES + c] - largest);
          message = largest + log(total);
        }
        if (p >= 0) inbox[NAME_inbox_start[p] + v * CLASSES + c] += message;
        else scores[c] += message;
      }
    }
  }
  return 1;
}"""

_EXPAND = "\n  probabilities[1] = probabilities[0];\n  probabilities[0] = 0;"

_TAIL = """int {name}_predict(const double *values, double *probabilities) {{
  int best = 0;
  double total = 0;
  if (!{name}_scores(values, probabilities)) return -1;{expand}
  for (int c = 1; c < {n_classes}; c++)
    if (probabilities[c] > probabilities[best]) best = c;
  const double largest = probabilities[best];
  for (int c = 0; c < {n_classes}; c++) {{
    probabilities[c] = exp(probabilities[c] - largest);
    total += probabilities[c];
  }}
  for (int c = 0; c < {n_classes}; c++) probabilities[c] /= total;
  return best;
}}"""
