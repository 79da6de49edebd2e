"""Classifiers by name, with the options of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from tanager.classifiers import BayesNetClassifier, BoostedClassifier
from tanager.cli._input_data import check_new_file
from tanager.encoding import EqualWidthEncoder, QuantileEncoder, TableEncoder
from tanager.errors import unknown_name
from tanager.io import network_format
from tanager.registry import Recipe, is_auto, parse, parts_from


def make_model(
    name: str,
    features: Sequence[str],
    options: Mapping[str, Any],
) -> BayesNetClassifier | BoostedClassifier:
    """Make a classifier by its published name, with the `training_options`."""
    categorical = options["categorical"]
    for column in categorical:
        if column not in features:
            raise unknown_name("column in --categorical", column, features)
    paper = options["paper"]
    recipe = parse(name, paper)
    return BayesNetClassifier.from_name(
        name,
        paper=paper,
        encoder=_encoder(recipe, options),
        n_jobs=options["jobs"],
        random_state=options["seed"],
    )


def uses_unlabelled(name: str, paper: str | None = None) -> bool:
    """Whether a method can use unlabelled samples; unknown names are errors."""
    recipe = parse(name, paper)
    return recipe.parameters.uses_unlabelled and not recipe.boosted


def check_model_output(output: str, name: str, data: str) -> None:
    """Check, before long work, that the model can be written to a file."""
    if output == "-":
        raise click.UsageError(
            "A model is written to a file, not to standard output; give a name such as "
            "--output model.json."
        )
    check_new_file(output, data)
    found = network_format(output)
    if found is not None and parse(name).boosted:
        raise click.UsageError(
            f"{name} has several networks, but {found.name} holds one; write a model "
            "file, such as --output model.json."
        )
    if found is not None and parse(name).structure.gives_factors:
        model = "The default model" if is_auto(name) else name
        raise click.UsageError(
            f"{model} has factors, but {found.name} holds CPTs; write a model file, "
            "such as --output model.json, which 'tanager convert' converts where it "
            "can, or choose --model TAN-RES-RCL."
        )


def _encoder(recipe: Recipe, options: Mapping[str, Any]) -> Any:
    name, bins, parts = options["encoder"], options["bins"], options["date_parts"]
    if bins is not None and name not in ("width", "quantile"):
        raise click.UsageError(
            f"--bins goes with --encoder width or quantile, not with {name}."
        )
    if bins is not None and bins < 1:
        raise click.UsageError(f"--bins must be at least 1, got {bins}.")
    if name == "categorical" and parts is None:
        return name
    columns = list(options["categorical"]) or None
    if name == "auto":
        suited = recipe.encoder
        if suited is None:
            suited = parts_from("auto", recipe.structure, recipe.parameters)[0]
        if columns:
            suited.set_params(categorical_features=columns)
        return suited.set_params(date_parts=parts)
    if name == "categorical":
        return TableEncoder(categorical_features="all", date_parts=parts)
    numeric: Any = name
    if bins is not None:
        kind = EqualWidthEncoder if name == "width" else QuantileEncoder
        numeric = kind(n_bins=bins)
    return TableEncoder(numeric=numeric, categorical_features=columns, date_parts=parts)
