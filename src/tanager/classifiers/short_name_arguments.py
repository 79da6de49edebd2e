"""`PartArgumentsMixin`: arguments of parts that are given by short names."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from tanager import registry
from tanager.encoding import TableEncoder
from tanager.errors import InputError

PARTS = ("encoder", "structure", "parameters")
"""The arguments of a classifier that are parts, in the order of `parts_from`."""


class PartArgumentsMixin(BaseEstimator):
    """`set_params` for parts that are short names, such as "auto" or "tan".

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> model = BayesNetClassifier(structure="nb", parameters="rcl")
    >>> model.set_params(parameters__C=0.1).parameters.C
    0.1
    """

    encoder: Any
    structure: Any
    parameters: Any

    def set_params(self, **params: Any) -> Self:
        """Set arguments, also of parts: ``parameters__C=0.1``.

        A part that is a short name becomes the part that it stands for, together with
        the others as they are then; "auto" is resolved in the same way. So a grid
        search can list ``structure`` and ``parameters__C``.

        Parameters
        ----------
        **params
            Arguments of the classifier, and of its parts after two underscores.

        Returns
        -------
        self : estimator
            The same object.

        Raises
        ------
        InputError
            If a part that is a short name has no such argument.
        """
        own = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**own)
        of_parts: dict[str, dict[str, Any]] = {}
        others = {}
        for name, value in params.items():
            part, mark, argument = name.partition("__")
            if mark and part in PARTS and isinstance(getattr(self, part), str):
                of_parts.setdefault(part, {})[argument] = value
            elif mark:
                others[name] = value
        if of_parts:
            made = registry.parts_from(self.encoder, self.structure, self.parameters)
            named = dict(zip(PARTS, made, strict=True))
            for part, arguments in of_parts.items():
                self._set_part(part, named, arguments)
        super().set_params(**others)
        return self

    def _set_part(
        self, part: str, named: dict[str, Any], arguments: dict[str, Any]
    ) -> None:
        """Replace a short name by its part with some arguments."""
        found = named[part]
        known = found.get_params()
        for name in arguments:
            inner, mark, _ = name.partition("__")
            if inner in known:
                if mark:
                    _check_nested(part, found, inner)
                continue
            own = ", ".join(sorted(found.get_params(deep=False))) or "none"
            others = [
                f"{other}__{key}"
                for other, item in named.items()
                for key in item.get_params()
                if key.rpartition("__")[2] == name
            ]
            remedy = f"Give another part, such as {_EXAMPLES[part]}"
            if others:
                remedy = f"Write {' or '.join(others)}"
            raise InputError(
                f"{part}={getattr(self, part)!r} stands for {type(found).__name__} "
                f"here, which has no argument {name!r}; its arguments: {own}. {remedy}."
            )
        setattr(self, part, found.set_params(**arguments))


def _check_nested(part: str, found: BaseEstimator, inner: str) -> None:
    """Raise if an argument of a part that is to have arguments itself has none."""
    value = getattr(found, inner)
    if isinstance(found, TableEncoder) and inner == "numeric":
        return  # short names are resolved there
    if not hasattr(value, "set_params"):
        raise InputError(
            f"{part}__{inner} is {value!r} here, which has no arguments of its own; "
            f"set {part}__{inner} to an object that has."
        )


_EXAMPLES = {
    "encoder": "encoder=TableEncoder()",
    "structure": "structure=ChowLiu()",
    "parameters": "parameters=ConditionalLikelihood()",
}
