"""``tanager plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tanager.cli._options import quiet_option

if TYPE_CHECKING:
    from tanager.network import AnyNetwork

FORMATS = (".svg", ".png", ".pdf")


@click.command(short_help="Draw the network of a model, or the curve of a feature.")
@click.argument("model")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="File to write: .svg, or .png and .pdf, which need the extra plot.",
)
@click.option(
    "--feature",
    "features",
    metavar="NAME",
    help="Draw the effect of a feature on the class, or of several together, separated "
    "by commas, instead of the network.",
)
@click.option(
    "--effects",
    "n_effects",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Draw the N most important effects below the network (.svg only).",
)
@click.option(
    "--member",
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw one network of a boosted model, counted from 1.",
)
@quiet_option
def plot(
    model: str,
    output: str,
    features: str | None,
    n_effects: int,
    member: int | None,
    quiet: bool,
) -> None:
    """Draw MODEL, a model file, BIF or XMLBIF: its network, or the effect of a feature.

    \b
    tanager plot model.json -o network.svg --effects 6
    tanager plot model.json -o age.svg --feature age
    tanager plot model.json -o pair.png --feature age,education
    """  # noqa: D301
    from pathlib import Path

    from tanager.cli._data import check_new_file
    from tanager.cli._factor_table_text import split_names
    from tanager.cli._show import select_network
    from tanager.cli._terminal import say
    from tanager.errors import InputError, listed
    from tanager.io import read_any
    from tanager.plots.figure import draw_figure
    from tanager.plots.network_axes import fill_figure
    from tanager.utils.atomic_write import write_bytes

    kind = Path(output).suffix.lower()
    if kind not in FORMATS:
        raise InputError(
            f"Cannot draw to '{output}': the ending must be one of {listed(FORMATS)}."
        )
    if n_effects and (features or kind != ".svg"):
        raise click.UsageError(
            "--effects goes with a network in an .svg file; draw single effects with "
            "--feature."
        )
    check_new_file(output, model)
    network: AnyNetwork = select_network(read_any(model), model, member, "the picture")
    if features is None:
        what = f"network of {len(network.schema)} variables"
        if kind == ".svg":
            write_bytes(output, network.to_svg(n_effects).encode())
        else:
            draw_figure(lambda figure: fill_figure(figure, network.graph), output)
    else:
        effect = network.effect(*split_names(features, network.schema))
        what = f"effect of {' x '.join(effect.features)}"

        def draw(figure: Any) -> None:
            figure.set_size_inches(5.5, 4.0)
            figure.set_layout_engine("constrained")
            effect.plot(figure.add_subplot())

        if kind == ".svg":
            write_bytes(output, effect.to_svg().encode())
        else:
            draw_figure(draw, output)
    say(f"Wrote {output}: {what}.", quiet=quiet)
