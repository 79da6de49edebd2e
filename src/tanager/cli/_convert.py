"""``tanager convert``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tanager.cli._options import quiet_option, variable_option

if TYPE_CHECKING:
    from tanager.io.network_formats import NetworkFormat
    from tanager.network import AnyNetwork


@click.command(short_help="Convert between model files, BIF and XMLBIF.")
@click.argument("model")
@click.argument("output")
@variable_option
@quiet_option
def convert(model: str, output: str, target: str | None, quiet: bool) -> None:
    """Convert MODEL to the format given by the suffix of OUTPUT.

    .json is a model file, .bif is BIF; .xmlbif, .xml and .bifxml are XMLBIF. BIF and
    XMLBIF keep the network with its cut points and target, but not the settings with
    which a classifier was learned. The factors of the default model are converted to
    CPTs if their features form no cycles.

    \b
    tanager convert model.json model.bif
    tanager convert asia.bif asia.json --target lung
    """  # noqa: D301
    from tanager.classifiers import BayesNetClassifier, load, save
    from tanager.cli._column_matching import with_target
    from tanager.cli._input_data import check_new_file
    from tanager.cli._show import sizes_text
    from tanager.cli._terminal import say
    from tanager.io import check_suffix, network_format
    from tanager.network import AnyNetwork, LogLinearNetwork
    from tanager.utils.text import pluralise

    check_suffix(output)
    check_new_file(output, model)
    found = load(model)
    if target is not None:
        found = with_target(found, target, model)
    kind = network_format(output)
    written = found
    if kind is not None and isinstance(found, BayesNetClassifier):
        written = found.network_
    has_factors = isinstance(written, LogLinearNetwork)
    if kind is not None and isinstance(written, LogLinearNetwork):
        written = written.to_network()
    save(written, output)
    if isinstance(written, AnyNetwork):
        networks: tuple[AnyNetwork, ...] = (written,)
    else:
        networks = written.networks_
    size = f"{pluralise(len(networks[0].schema), 'variable')}, {sizes_text(networks)}"
    say(f"Wrote {output}: {size}.", quiet=quiet)
    if kind is None:
        return
    if not isinstance(found, AnyNetwork):
        say(
            f"Note: {kind.name} holds the network, without the settings of the "
            f"{type(found).__name__}.",
            quiet=quiet,
        )
    if has_factors:
        say(
            "Note: the factors are converted to CPTs. Predictions are the same, but "
            "features that are not observed are marginalised.",
            quiet=quiet,
        )
    for note in _notes(networks[0], kind):
        say(f"Note: {note}", quiet=quiet)


def _notes(network: AnyNetwork, kind: NetworkFormat) -> list[str]:
    """Notes on what the format changes."""
    from tanager.utils.text import pluralise

    notes = []
    assert network.has_cpts  # no format but ours holds another
    layout = network.parameters.layout
    sums = sum(len(layout.tables_of(v)) > 1 for v in range(len(network.schema)))
    if sums:
        are = "families that are sums of log tables are"
        if sums == 1:
            are = "family that is a sum of log tables is"
        notes.append(f"{sums:,} {are} written as whole CPTs.")
    words = kind.renamed(network.schema)
    if words:
        old, new = words[0]
        is_are = "is" if len(words) == 1 else "are"
        notes.append(
            f"{pluralise(len(words), 'name')} {is_are} written as plain words, such as "
            f"{new!r} for {old!r}; tanager restores the originals when it reads them."
        )
    return notes
