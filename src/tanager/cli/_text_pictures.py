"""Networks and curves that are drawn in the terminal."""

from __future__ import annotations

import sys

import click

from tanager.cli._factor_text import split_names
from tanager.cli._terminal import line_width, print_text
from tanager.network import AnyNetwork

COLOURS = ("bright_blue", "yellow", "green", "magenta", "cyan", "red")
"""Colours of the classes in a curve."""


def print_picture(network: AnyNetwork, features: str | None = None) -> None:
    """Draw a network or, if `features` are given, their effect on the class.

    Only characters of ASCII are used where standard output cannot hold others, and
    colours only on a terminal.
    """
    width, ascii = line_width(), not _holds("┌▼⣿")
    if features is None:
        print_text(network.to_text(width=width, ascii=ascii))
        return
    effect = network.effect(*split_names(features, network.schema))
    # Names are escaped there, and the sequences of colours must not be.
    click.echo(effect.to_text(width=width, ascii=ascii, paint=_paint))


def _paint(text: str, line: int) -> str:
    return click.style(text, fg=COLOURS[line % len(COLOURS)])


def _holds(text: str) -> bool:
    """Whether standard output can be written these characters."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
