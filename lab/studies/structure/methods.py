"""The structures that are compared, by the names of the registry."""

from __future__ import annotations

STRUCTURES: dict[str, tuple[str, ...]] = {
    "NB": ("ML", "CL"),
    "TAN-CMI": ("ML", "CL"),
    "TAN-RO-CR": ("ML",),
    "TAN-SuperParent": ("ML", "CL"),
    "TAN-OMI-CR": ("ML", "CL"),
    "TAN-OMISP-CR": ("ML",),
    "TAN-OCR-CR": ("ML",),
    "TAN-OMI-CL": ("ML", "CL"),
    "TAN-CR": ("ML", "CL"),
    "TAN-RES": ("CL",),
    "KDB2": ("ML", "CL"),
    "2-tree-SuperParent": ("ML", "CL"),
    "2-tree-OMI-CR": ("ML", "CL"),
    "2-tree-CR": ("ML", "CL"),
}
"""Every structure with the parameters that are learned for it."""
