"""`to_onnx`: a classifier as an ONNX graph, written operator by operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanager._version import __version__
from tanager.errors import CapabilityError
from tanager.export.score_terms import ScoreTerm, ScoreTerms
from tanager.model.schema import Variable
from tanager.network import AnyNetwork
from tanager.types import AnyArray

OPSET, ML_OPSET, IR_VERSION = 15, 2, 8
"""Versions of the operators and of the file: old enough for most runtimes."""


def to_onnx(
    network: AnyNetwork, *, contributions: bool = False, complete: bool = False
) -> Any:
    """Write a classifier as an ONNX model.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model. Its class must be the last variable and have no parents.
    contributions : bool, default=False
        Whether the model has a third output, what every feature adds to the scores, as
        in `explain`.
    complete : bool, default=False
        Accept that samples without a feature that is a parent of others get NaN.

    Returns
    -------
    onnx.ModelProto
        Its inputs are the features by name, each of shape (n_samples, 1): double for
        numeric features, int64 for categories that are whole numbers, string for
        others. Its outputs are ``label`` of shape (n_samples,), ``probabilities`` of
        shape (n_samples, n_classes), double, and ``contributions`` of shape (n_samples,
        n_inputs, n_columns), double, in the order of the inputs: what every feature
        adds to the log odds of the second of two classes, or to the score of every
        class. A feature with the name of an output gives that one an underscore.

    Raises
    ------
    CapabilityError
        If the scores of the model are no sum of tables, or if it would have to
        marginalise features and `complete` is False.

    Notes
    -----
    A missing number is NaN, a missing string the empty one. Samples without a feature
    that was never missing in training are shrunk towards the prior as in `predict`.
    """
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise CapabilityError(
            "to_onnx needs onnx, which is not installed: pip install tanager[onnx]."
        ) from error
    terms = ScoreTerms.of_network(network)
    if terms.needed and not complete:
        raise CapabilityError(
            "Where a feature that is a parent of others is missing, this network "
            "marginalises it, which the operators of ONNX cannot do. If values are "
            "never missing, use complete=True (on the command line --complete); "
            "otherwise export the default model or naive Bayes."
        )
    return _Graph(onnx, terms).model(contributions)


class _Graph:
    """Collects the nodes and constants of a graph."""

    def __init__(self, onnx: Any, terms: ScoreTerms) -> None:
        self.onnx = onnx
        self.terms = terms
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.divisor = ""  # what scores of incomplete samples are shrunk by
        self._taken = {variable.name for variable in terms.features}
        self._last_axis = self._constant(np.array([1], dtype=np.int64))

    def model(self, contributions: bool) -> Any:
        """The whole model."""
        helper, kinds = self.onnx.helper, self.onnx.TensorProto
        codes = [self._code(variable) for variable in self.terms.features]
        added, spreads = [], []
        for t, term in enumerate(self.terms.terms):
            cell = self._cell(t, term, codes)
            added.append(self._look_up(f"weights_{t}", term.weights, cell))
            if term.variances is not None:
                spreads.append(self._look_up(f"variances_{t}", term.variances, cell))
        scores = self._scores(added, spreads)
        if self.terms.n_classes > self.terms.n_columns:
            zeros = self._node("Sub", [scores, scores])
            scores = self._node("Concat", [zeros, scores], axis=1)
        probabilities, label = self._free("probabilities"), self._free("label")
        self._node("Softmax", [scores], probabilities, axis=1)
        best = self._node("ArgMax", [scores], axis=1, keepdims=0)
        states = self.terms.target.states
        whole = all(isinstance(s, int) for s in states)
        label_kind = kinds.INT64 if whole else kinds.STRING
        classes = self._free("classes")
        names = self.onnx.helper.make_tensor(
            classes, label_kind, [len(states)],
            [int(s) if whole else str(s).encode() for s in states],
        )  # fmt: skip
        self.constants.append(names)
        self._node("Gather", [classes, best], label, axis=0)
        outputs = [
            helper.make_tensor_value_info(label, label_kind, ["n"]),
            helper.make_tensor_value_info(
                probabilities, kinds.DOUBLE, ["n", self.terms.n_classes]
            ),
        ]
        if contributions:
            outputs.append(self._contributions(added))
        graph = helper.make_graph(
            self.nodes, "tanager", self.inputs, outputs, self.constants
        )
        model = helper.make_model(
            graph,
            producer_name="tanager",
            producer_version=__version__,
            opset_imports=[
                helper.make_opsetid("", OPSET),
                helper.make_opsetid("ai.onnx.ml", ML_OPSET),
            ],
        )
        model.ir_version = IR_VERSION
        self.onnx.checker.check_model(model)
        return model

    def _code(self, variable: Variable) -> str:
        """The code of a feature, shape (n,), from its input of shape (n, 1)."""
        helper, kinds = self.onnx.helper, self.onnx.TensorProto
        name = variable.name
        if variable.cuts is not None:
            self.inputs.append(
                helper.make_tensor_value_info(name, kinds.DOUBLE, ["n", 1])
            )
            cuts = self._constant(np.array([variable.cuts], dtype=np.float64))
            below = self._node("Less", [cuts, name])
            counted = self._node("Cast", [below], to=kinds.INT64)
            code = self._node("ReduceSum", [counted, self._last_axis], keepdims=0)
            absent = self._node(
                "Squeeze", [self._node("IsNaN", [name]), self._last_axis]
            )
            return self._missing(variable, absent, code)
        whole = all(isinstance(state, int) for state in variable.value_states)
        kind = kinds.INT64 if whole else kinds.STRING
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["n", 1]))
        # LabelEncoder of these versions has no keys that are whole numbers.
        text = self._node("Cast", [name], to=kinds.STRING) if whole else name
        keys = [str(state) for state in variable.value_states]
        codes = list(range(variable.n_values))
        if "" not in keys:  # an empty string is a missing value
            keys, codes = [*keys, ""], [*codes, -1]
        found = self._node(
            "LabelEncoder", [text], domain="ai.onnx.ml", keys_strings=keys,
            values_int64s=codes, default_int64=variable.n_states,
        )  # fmt: skip
        code = self._node("Squeeze", [found, self._last_axis])
        zero = self._constant(np.array(0, dtype=np.int64))
        return self._missing(variable, self._node("Less", [code, zero]), code)

    def _missing(self, variable: Variable, absent: str, code: str) -> str:
        missing = self._constant(np.array(variable.missing_code, dtype=np.int64))
        return self._node("Where", [absent, missing, code])

    def _cell(self, t: int, term: ScoreTerm, codes: list[str]) -> str:
        """The cell of a term, shape (n,); beyond the last one if it has none."""
        parts = []
        for axis, stride in zip(term.axes, term.strides, strict=True):
            bins = np.array(axis.bins, dtype=np.int64)
            # No bin: a step beyond all cells, to a row of NaN.
            steps = np.where(bins < 0, len(term.weights), bins * stride)
            table = self._constant(steps)
            parts.append(self._node("Gather", [table, codes[axis.feature]], axis=0))
        total = parts[0]
        for part in parts[1:]:  # Sum has no whole numbers
            total = self._node("Add", [total, part])
        last = self._constant(np.array(len(term.weights), dtype=np.int64))
        return self._node("Min", [total, last], self._free(f"cell_{t}"))

    def _look_up(self, name: str, table: AnyArray, cell: str) -> str:
        """Rows of a table, shape (n, n_columns)."""
        padded = np.concatenate([table, np.full((1, table.shape[1]), np.nan)])
        constant = self._constant(padded)
        return self._node("Gather", [constant, cell], self._free(name), axis=0)

    def _scores(self, added: list[str], spreads: list[str]) -> str:
        """Scores of all columns, the prior included."""
        prior = self.terms.prior
        if not added:
            return self._constant(prior[np.newaxis])
        total = self._node("Sum", added)
        if spreads:
            if len(prior) > 1:
                prior = prior - prior.mean()
                total = self._centre(total)
            scale = self._constant(np.array(self.terms.variance_scale))
            one = self._constant(np.array(1.0))
            variance = self._node("Mul", [self._node("Sum", spreads), scale])
            self.divisor = self._node("Sqrt", [self._node("Add", [variance, one])])
            total = self._node("Div", [total, self.divisor])
        return self._node("Add", [total, self._constant(prior[np.newaxis])])

    def _contributions(self, added: list[str]) -> Any:
        """Add the output with what every feature contributes, and describe it."""
        name = self._free("contributions")
        each = [self._node("Unsqueeze", [term, self._last_axis]) for term in added]
        terms = self._node("Concat", each, axis=1)
        terms = self._centre(terms)
        if self.divisor:
            divisor = self._node("Unsqueeze", [self.divisor, self._last_axis])
            terms = self._centre(self._node("Div", [terms, divisor]))
        shares = self._constant(self.terms.shares)
        self._node("MatMul", [shares, terms], name)
        shape = ["n", len(self.terms.features), self.terms.n_columns]
        kind = self.onnx.TensorProto.DOUBLE
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)

    def _centre(self, scores: str) -> str:
        """Make the scores of several classes, along the last axis, sum to zero."""
        if self.terms.n_columns == 1:
            return scores
        mean = self._node("ReduceMean", [scores], axes=[-1], keepdims=1)
        return self._node("Sub", [scores, mean])

    def _free(self, name: str) -> str:
        """The name, with underscores if something has it."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _constant(self, values: AnyArray) -> str:
        name = self._free(f"tanager_c{len(self.constants)}")
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def _node(
        self, kind: str, inputs: list[str], output: str = "", **attributes: Any
    ) -> str:
        """Add an operator, and give the name of its output."""
        name = output or self._free(f"tanager_n{len(self.nodes)}")
        self.nodes.append(
            self.onnx.helper.make_node(kind, inputs, [name], **attributes)
        )
        return name
