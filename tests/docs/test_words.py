"""Pages and names use the terms of scikit-learn and of the literature.

Each pattern is a phrase that the project once used in a sense of its own, with the
usual term. Code, links and identifiers in backticks are not looked at.
"""

import ast
import re
from pathlib import Path

import pytest

import tanager
from tests.docs.pages import DOCS

ROOT = DOCS.parent
PACKAGE = Path(tanager.__file__).parent

PHRASES = {
    r"(?<!optimality )(?<!duality )(?<!this )(?<!the )\bgaps?\b": "missing values",
    r"\brows? with (a )?gaps?\b": "incomplete samples",
    r"\brows? without (a class|labels?)\b": "unlabelled samples",
    r"\b(training|test) rows\b|\brows (to classify|held out|set aside)\b": "samples",
    r"\bbinned\b|\bbins by MDL\b|\bMDL bins\b": "discretised",
    r"\bnumbers are binned\b|\bset of numbers\b": "numeric features",
    r"\bsum(med|s|ming)? over (the )?(what|missing|gaps|all missing)": "marginalised",
    r"\b(are|is|be|were) summed over\b": "marginalised",
    r"\bportions?\b": "batches",
    r"\b(has|have) not explained\b|\bunexplained\b": "residuals",
    r"\bagain and again\b": "greedy forward search",
    r"\bgreatest conditional (likelihood|mutual)\b": "maximum conditional likelihood",
    r"\blearned for the class\b": "discriminatively trained",
    r"\bpenalty on (the )?steps\b": "first-difference penalty",
    r"\bsure and wrong\b": "overconfident",
    r"\b(do|does|that) not teach\b|\bheld back\b": "validation set",
    r"\bdraws\b(?! (the|a|it|them|on)\b)": "random seeds or samples",
    r"\breadings\b": "interpretations",
    r"\bbeside\b": "compared with",
    r"\bshares? of\b|\bequal share\b": "fraction",
    r"\btold\b|\btells\b|\btell apart\b": "reported",
    r"\bdea(l|ls|lt) (out|into)\b": "split",
    r"\bin which the search is round\b": "preconditioner",
    r"\bmost s\b": "max fit time (s)",
    r"\bcannot be told\b|\btoo few to tell\b": "inconclusive",
    r"(?<!lost )\bto rounding\b": "to machine precision",
    r"\bwhichever (these|those|this)\b": "name what is meant",
    r"\bdata sets?\b(?!, JMLR)": "datasets",
    r"\b(\d+|smaller|large|our) sets\b|\bon (all|other) sets\b": "datasets",
    r"\banew\b": "again",
}
"""Regular expressions, without regard to case, with what to write instead."""

NAMES = (
    "beside", "dealt", "drawn", "gaps", "grown", "lasting", "portion", "portions",
    "readings", "searched", "sure", "told", "tried",
)  # fmt: skip
"""Parts of names of modules, classes and functions that say nothing to a newcomer."""

PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (*ROOT.glob("*.md"), *DOCS.glob("*.md"))
    if path.is_file()
)


def prose(text):
    """The text of a page without code, link targets and table rules."""
    text = re.sub(r"(?ms)^```.*?^```$", " ", text)
    text = re.sub(r"(?m)^ {4}.*$", " ", text)
    text = re.sub(r"`[^`]*`", "`code`", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"\s+", " ", text)


def violations(text):
    return [
        f"...{text[max(0, found.start() - 40) : found.end() + 40]}...: {found[0]!r}; "
        f"write {instead}"
        for pattern, instead in PHRASES.items()
        for found in re.finditer(pattern, text, flags=re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_pages(page):
    found = violations(prose((ROOT / page).read_text("utf-8")))
    assert not found, "\n".join(found)


def defined_names(path):
    tree = ast.parse(path.read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node.name for node in ast.walk(tree) if isinstance(node, kinds)]


def test_names_of_modules_classes_and_functions():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in (path.stem, *defined_names(path)):
            words = re.findall(r"[A-Z]?[a-z]+", name)
            bad = [word for word in words if word.lower() in NAMES]
            if bad:
                found.append(f"{path.relative_to(PACKAGE)}: {name}")
    assert not found, "\n".join(found)


def texts_of(path):
    """Docstrings, messages and help texts of a module, without code."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = re.sub(r"`+[^`]*`+", "`code`", node.value)
            text = re.sub(r"(?m)^ *(>>>|\.\.\.).*$", " ", text)
            if " " in text:  # one word is a key, not a sentence
                yield re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("folder", ["measurements", "runner", "views"])
def test_module_names_and_texts_of_the_lab(folder):
    found = []
    for path in sorted((ROOT / "lab" / folder).glob("*.py")):
        if set(path.stem.split("_")) & set(NAMES):
            found.append(path.name)
        found += [
            f"{path.name}: {violation}"
            for text in texts_of(path)
            for violation in violations(text)
        ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "package", sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
)
def test_docstrings_and_messages(package):
    found = [
        f"{path.name}: {violation}"
        for path in sorted((PACKAGE / package).rglob("*.py"))
        for text in texts_of(path)
        for violation in violations(text)
        if not re.search("optimal|certificate|bound on the gap", text)
        or "gap" not in violation
    ]
    assert not found, "\n".join(found)


def test_the_patterns_find_what_they_are_for():
    assert violations("Rows with gaps are summed over, in portions.")
    assert violations("It is sure and wrong on 24 sets.")
    assert not violations(
        "This bounds the optimality gap; `show --dot` draws the graph."
    )
