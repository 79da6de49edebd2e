"""Links, names and extras in README, CONTRIBUTING and docs exist."""

import importlib
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

import tanager
from tests.docs.pages import DOCS

ROOT = DOCS.parent
if not DOCS.is_dir():
    pytest.skip("a source distribution has no pages", allow_module_level=True)

PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in (*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("methods/*.md"))
}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
pages = pytest.mark.parametrize("name", sorted(PAGES))


def anchors(text):
    """The anchors that GitHub gives to the headings of a page."""
    titles = re.findall(r"(?m)^#+ (.*)$", text)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in plain}


@pages
def test_relative_links(name):
    folder = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)\s]+)\)", PAGES[name]):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = (folder / path).resolve() if path else ROOT / name
        assert file.exists(), f"{name}: {target}"
        if anchor and file.suffix == ".md":
            found = anchors(file.read_text("utf-8"))
            assert anchor in found, f"{name}: {target}"


@pages
def test_names_in_tanager(name):
    """Every dotted name that begins with tanager can be imported."""
    text = PAGES[name]
    if name == "CHANGELOG.md":  # the first column of its table has the old names
        text = re.sub(r"(?m)^\| .*? \|", "|", text)
    for dotted in set(re.findall(r"(?<![\w/.])tanager(?:\.\w+)+", text)):
        if dotted.endswith((".json", ".bif", ".md", ".csv")):
            continue
        module, parts = tanager, dotted.split(".")[1:]
        for number, part in enumerate(parts):
            try:
                module = getattr(module, part)
            except AttributeError:
                path = ".".join(["tanager", *parts[: number + 1]])
                module = importlib.import_module(path)


@pages
def test_extras(name):
    named = re.findall(r"tanager\[([\w,]+)\]|'\.\[([\w,]+)\]'", PAGES[name])
    for extras in (found for pair in named for found in pair if found):
        assert set(extras.split(",")) <= set(EXTRAS)


def test_the_extras_of_the_readme():
    _, _, text = PAGES["README.md"].partition("The extras are")
    assert text
    named = re.findall(r"`(\w+)` \(", text.partition("\n\n")[0])
    assert named
    assert set(named) <= set(EXTRAS)


def test_the_extras_of_the_installation_page():
    rows = re.findall(r"(?m)^\| `(\w+)` \|", PAGES["docs/install.md"])
    assert sorted(rows) == sorted(EXTRAS.keys() - {"bench", "dev"})


def test_classes_in_the_tables_of_methods():
    """Names in backticks that look like classes are public, and strings are known."""
    known = {name.casefold() for name in tanager.names()}
    text = PAGES["docs/methods/index.md"].partition("## All short names")[2]
    rows = re.findall(r"(?m)^\| (.*) \|$", text)
    assert len(rows) >= 30
    for row in rows:
        cells = row.split(" | ")
        if len(cells) != 3:
            continue
        strings, classes, _ = cells
        for part in re.findall(r"`([A-Z]\w+)`", classes):
            assert part in tanager.__all__, part
        for text in re.findall(r'`"([^"`]+)"`', strings):
            if "+" in text:
                assert text.casefold() in known, text
                continue
            makers = ("structure_from", "parameters_from", "encoder_from")
            found = [_accepts(maker, text) for maker in makers]
            assert any(found), text


def _accepts(maker, text):
    registry = importlib.import_module("tanager.registry")
    try:
        getattr(registry, maker)(text)
    except tanager.InputError:
        return False
    return True


def test_packages_of_contributing():
    """The table of packages lists those that exist, in the order of the layers."""
    text = PAGES["CONTRIBUTING.md"]
    _, _, table = text.partition("| package | contents |\n|---|---|\n")
    rows = [line.split(" | ")[0] for line in table.partition("\n\n")[0].splitlines()]
    listed = [set(re.findall(r"`(\w+)`", row)) for row in rows]
    package = Path(tanager.__file__).parent
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    modules = {path.stem for path in package.glob("[a-z]*.py")}
    assert set().union(*listed) == folders | modules
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    layers = [set(layer.split(" | ")) for layer in contract["layers"]]
    assert listed == layers


def test_pages_with_examples_are_doctested():
    """`make test` runs the examples of every page that has some."""
    with_examples = {name for name, text in PAGES.items() if ">>> " in text}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    patterns = re.findall(r"[\w/*-]+\.md", makefile)
    for name in with_examples:
        assert any(fnmatch(name, pattern) for pattern in patterns), name


def public_names(package):
    """The names in `__all__` of a package that tanager itself does not have."""
    module = importlib.import_module(package)
    names = {name for name in module.__all__ if not name.startswith("_")}
    return names if module is tanager else names - OWN_NAMES


OWN_NAMES = set(tanager.__all__) - {"load", "names"}  # datasets has these, too


def test_the_api_page_lists_everything_public():
    """The tables list `__all__` of every package on the page, and nothing else."""
    _, *sections = re.split(r"(?m)^## ", PAGES["docs/api.md"])
    listed = {}
    for section in sections:
        title, _, text = section.partition("\n")
        rows = re.findall(r"(?m)^\| (`.*?) \| (.*) \|$", text)
        if title.startswith("`"):
            names = {n for first, _ in rows for n in re.findall(r"`(\w+)`", first)}
            listed[title.strip("`")] = names
        else:
            for first, second in rows:
                listed[first.strip("`")] = set(re.findall(r"`(\w+)`", second))
    assert listed
    for package, names in listed.items():
        assert names == public_names(package), package
