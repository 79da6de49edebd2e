"""``tanager plot``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from tanager.cli._options import data_options, quiet_option

if TYPE_CHECKING:
    from tanager.network import AnyNetwork

FORMATS = (".svg", ".png", ".pdf")
PIXELS = 68.0  # of an SVG picture, for an inch of the others
KINDS = ("network", "effect", "cpt", "importance", "edges", "waterfall", "calibration")


@click.command(short_help="Draw the network of a model, or the curve of a feature.")
@click.argument("model")
@click.argument("data", required=False)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File to write: .svg, or .png and .pdf, which need the extra plot.  [default: "
    "draw the network or the curve here, with characters]",
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="What to draw; waterfall and calibration need DATA.  [default: network, or "
    "effect with --feature]",
)
@click.option(
    "--feature",
    "features",
    metavar="NAME",
    help="Feature whose effect on the class is drawn, or several together, separated "
    "by commas; variable of a CPT.",
)
@click.option(
    "--row",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Row of DATA for a waterfall, counted from 1.",
)
@click.option(
    "--class",
    "label",
    metavar="CLASS",
    help="Class of a waterfall or calibration.  [default: the predicted one]",
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
@data_options
@quiet_option
def plot(
    model: str,
    data: str | None,
    output: str | None,
    kind: str | None,
    features: str | None,
    row: int,
    label: str | None,
    n_effects: int,
    member: int | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Draw MODEL, a model file, BIF or XMLBIF, or its predictions for DATA.

    \b
    tanager plot model.json
    tanager plot model.json -o network.svg --effects 6
    tanager plot model.json -o age.svg --feature age
    tanager plot model.json -o pair.png --feature age,education
    tanager plot model.json -o importance.svg --kind importance
    tanager plot model.json data.csv -o why.svg --kind waterfall --row 17
    tanager plot model.json data.csv -o calibration.svg --kind calibration
    """  # noqa: D301
    from tanager.cli._input_data import check_new_file
    from tanager.cli._model_pictures import prediction_picture
    from tanager.cli._show import select_network
    from tanager.cli._terminal import say
    from tanager.cli._text_pictures import print_picture
    from tanager.io import read_any

    kind = kind or ("network" if features is None else "effect")
    _check_options(kind, data, output, features, n_effects)
    if output is not None:
        check_new_file(output, model, *([] if data is None else [data]))
    if data is not None:
        picture = prediction_picture(
            model, data, kind, row, label, reading=reading,
            quiet=quiet,
        )  # fmt: skip
        what = kind if kind != "waterfall" else f"waterfall of row {row}"
        _write_picture(picture, str(output))
    else:
        network = select_network(read_any(model), model, member, "the picture")
        if output is None:
            print_picture(network, None if kind == "network" else features)
            return
        what = _write_model_picture(network, kind, features, n_effects, output)
    say(f"Wrote {output}: {what}.", quiet=quiet)


def _check_options(
    kind: str,
    data: str | None,
    output: str | None,
    features: str | None,
    n_effects: int,
) -> None:
    """Raise unless the options go together."""
    from tanager.cli._model_pictures import NEED_DATA
    from tanager.errors import InputError, listed

    if output is not None and _ending(output) not in FORMATS:
        raise InputError(
            f"Cannot draw to '{output}': the ending must be one of {listed(FORMATS)}."
        )
    if n_effects and (kind != "network" or output is None or _ending(output) != ".svg"):
        raise click.UsageError(
            "--effects goes with a network in an .svg file; draw single effects with "
            "--feature."
        )
    if kind == "effect" and features is None:
        raise click.UsageError("--kind effect needs the feature: --feature NAME.")
    if (data is None) == (kind in NEED_DATA):
        reason = "needs the file DATA" if data is None else "takes no DATA"
        raise click.UsageError(f"--kind {kind} {reason}.")
    if output is None and kind not in ("network", "effect"):
        raise click.UsageError(f"--kind {kind} needs a file: --output {kind}.svg.")


def _ending(output: str) -> str:
    return os.path.splitext(output)[1].lower()


def _write_model_picture(
    network: AnyNetwork,
    kind: str,
    features: str | None,
    n_effects: int,
    output: str,
) -> str:
    """Draw a network, or a part of it, to a file; say what was drawn."""
    from tanager.cli._factor_text import split_names
    from tanager.cli._model_pictures import model_picture
    from tanager.plots.figure import draw_figure
    from tanager.plots.network_axes import fill_figure
    from tanager.utils.atomic_write import write_bytes

    if kind == "network":
        if _ending(output) == ".svg":
            write_bytes(output, network.to_svg(n_effects).encode())
        else:
            draw_figure(lambda figure: fill_figure(figure, network.graph), output)
        return f"network of {len(network.schema)} variables"
    if kind == "effect":
        effect = network.effect(*split_names(str(features), network.schema))
        _write_picture(effect, output)
        return f"effect of {' x '.join(effect.features)}"
    _write_picture(model_picture(network, kind, features), output)
    return kind if kind != "cpt" else f"CPT of {features}"


def _write_picture(picture: Any, output: str) -> None:
    """Write what has `to_svg` and `plot` to a file, whose ending says how."""
    from tanager.plots.figure import draw_figure
    from tanager.utils.atomic_write import write_bytes

    def draw(figure: Any) -> None:
        panel = picture.panel()
        figure.set_size_inches(panel.width / PIXELS, panel.height / PIXELS)
        figure.set_layout_engine("constrained")
        picture.plot(figure.add_subplot())

    if _ending(output) == ".svg":
        write_bytes(output, picture.to_svg().encode())
    else:
        draw_figure(draw, output)
