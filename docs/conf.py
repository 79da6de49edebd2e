"""Configuration of the documentation site, built by ``make docs``."""

from __future__ import annotations

import re
from typing import Any

import tanager

project = "tanager"
author = "The tanager developers"
project_copyright = author
version = release = tanager.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["build", "examples", "gallery/**/*.ipynb", "templates"]
templates_path = ["templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "fieldlist", "html_image"]
# Links such as "guide.md#missing-values" have the anchors of a repository host.
myst_heading_anchors = 4

autosummary_generate = True
# The pages of packages list what `__all__` has, wherever it is defined.
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"  # numpydoc's Parameters have the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "code"

html_theme = "pydata_sphinx_theme"
html_title = "tanager"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "tanager"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "search_bar_text": "Search",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages without neighbours have no list of them.
SINGLE_PAGES = (
    "index",
    "install",
    "quickstart",
    "results",
    "scoreboard",
    "search",
    "genindex",
)
html_sidebars = {page: [] for page in SINGLE_PAGES}
html_domain_indices = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "min_reported_time": 1_000_000,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "within_subsection_order": "ExampleTitleSortKey",
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib\.",
    "write_computation_times": False,
    "reset_modules": ("matplotlib",),
}

# Pages that live elsewhere in the repository, and the page that shows each of them.
PAGES_ELSEWHERE = {
    "../lab/benchmarks/results.md": "benchmarks.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../README.md": "index.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
    "examples/README.rst": "gallery/index.rst",
    "docs/": "",
}


# A blank line ends the output of an example for doctest; readers do not need it.
EXAMPLE_END = re.compile(
    r"(^ *```python\n(?:(?!^ *```).*\n)*?)\n( *```$)", re.MULTILINE
)


def _redirect_links(text: str) -> str:
    """Point links to files outside of this folder to the pages that include them."""
    for path, page in PAGES_ELSEWHERE.items():
        text = text.replace(f"]({path}", f"]({page}")
    # Other files of the repository are named, not linked: the site has no copy.
    return re.sub(
        r"\[([^\]]+)\]\(\.\./(?!\w+/?[\w-]*\.md)([^)]+)\)",
        r"\1 (`\2` in the repository)",
        text,
    )


def _read_page(app: Any, docname: str, source: list[str]) -> None:
    if not docname.startswith("methods/"):  # these link to pages of this folder
        source[0] = _redirect_links(source[0])
    source[0] = EXAMPLE_END.sub(r"\1\2", source[0])


def _read_included(app: Any, path: Any, docname: str, source: list[str]) -> None:
    source[0] = EXAMPLE_END.sub(r"\1\2", _redirect_links(source[0]))


def _skip_scikit_learn(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn adds to every estimator and documents itself."""
    module = getattr(member, "__module__", None) or ""
    inherited = module.startswith("sklearn.") or name.endswith("_request")
    return True if inherited or name == "get_metadata_routing" else None


def setup(app: Any) -> None:
    """Connect the hooks of this file."""
    app.connect("source-read", _read_page)
    app.connect("include-read", _read_included)
    app.connect("autodoc-skip-member", _skip_scikit_learn)
