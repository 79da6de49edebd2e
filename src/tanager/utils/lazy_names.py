"""Names of a package that are imported on first use (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, members: Mapping[str, Sequence[str]], modules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package that imports late.

    Parameters
    ----------
    package : str
        Full name of the package: its ``__name__``.
    members : mapping from str to sequence of str
        Names by the module that defines them, relative to the package (``".base"``) or
        in full.
    modules : sequence of str, default=()
        Modules of the package that are attributes without being imported.

    Returns
    -------
    get : callable
        Imports the module of a name, and keeps the value in the package: it is called
        once per name.
    list_names : callable
        These names, sorted.
    """
    home = {name: module for module, names in members.items() for name in names}

    def get(name: str) -> Any:
        if name in home:
            value = getattr(import_module(home[name], package), name)
        elif name in modules:
            value = import_module(f".{name}", package)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted((*home, *modules))

    return get, list_names
