"""One self-contained HTML page from scripts, style and data."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files

from tanager.report.binary_text import pack_bytes

STARTER = ("binary_text.js", "start.js")
"""The modules that unpack the script of a page."""

MODULES = (
    "numerics.js",
    "binary_text.js",
    "payload.js",
    "table_places.js",
    "normalisers.js",
    "cpt_packing.js",
    "elimination.js",
    "forest_terms.js",
    "cpt_model.js",
    "missing_variance.js",
    "factor_model.js",
    "variables.js",
    "change_search.js",
    "information_gain.js",
    "network_effects.js",
    "class_flips.js",
    "model.js",
    "network_document.js",
    "sample_loss.js",
    "dom.js",
    "charts.js",
    "graph_view.js",
    "table_view.js",
    "curve_view.js",
    "flips_view.js",
    "what_if_view.js",
    "samples_view.js",
    "metrics_view.js",
    "factors_view.js",
    "about_view.js",
    "edits.js",
    "app.js",
)
"""The modules of the page, each after those that it imports."""

_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./\w+\.js\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async function|function|const|class)", re.MULTILINE)


@cache
def read_source(name: str) -> str:
    """The text of a script or style sheet of the package."""
    return files("tanager.report").joinpath("page", name).read_text("utf-8")


@cache
def bundle(modules: tuple[str, ...] = MODULES) -> str:
    """Join modules to one: without imports, exports, indentation and comments.

    Names at the top of a module are therefore unique in all modules, and no text runs
    over several lines; tests check both.
    """
    texts = [_EXPORT.sub("", _IMPORT.sub("", read_source(name))) for name in modules]
    return _compact("\n".join(texts))


def make_page(title: str, body: str, data: str = "", script: str = "") -> str:
    """Write a page that makes no request: a content-security policy forbids any.

    Parameters
    ----------
    title : str
        Shown as text.
    body : str
        HTML, in which everything that came from users is escaped already.
    data : str, default=""
        Text for the script, in an alphabet without ``<``.
    script : str, default=""
        A JavaScript module. It is compressed; a small one unpacks it.
    """
    style = _compact(read_source("style.css"))
    starter = bundle(STARTER)
    if "<" in data or "</script" in starter or "</style" in style:
        raise ValueError("the parts of a page must not end its elements")
    allowed = [f"'sha256-{_digest(text)}'" for text in (starter, script)]
    scripts = " ".join(allowed) if script else "'none'"
    policy = (
        f"default-src 'none'; script-src {scripts}; "
        f"style-src 'sha256-{_digest(style)}'; base-uri 'none'; form-action 'none'"
    )
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        body,
    ]
    if script:
        packed = {"data": data, "script": pack_bytes(script.encode("utf-8"))}
        parts += [
            f'<script type="application/octet-stream" id="{name}">{text}</script>'
            for name, text in packed.items()
        ]
        parts.append(f'<script type="module">{starter}</script>')
    return "\n".join([*parts, "</body>", "</html>", ""])


def _compact(text: str) -> str:
    """Leave out indentation, empty lines and lines of comments."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _digest(text: str) -> str:
    """SHA-256 of an inline element, as a content-security policy states it."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
