"""Means without the digits that depend on the order of a sum."""

from __future__ import annotations

from math import ceil, log10
from typing import Any

import numpy as np

DIGITS = 12
"""Digits of a mean that count: without the last ones equal means are equal."""

MOST_DECIMALS = 22


def steady(values: Any, scale: float) -> Any:
    """Drop digits that depend on the order of a sum, zeros without a sign."""
    # Beyond the powers of ten that floats hold exactly, all digits stay.
    decimals = DIGITS - ceil(log10(scale)) if scale > 0.0 else MOST_DECIMALS + 1
    return (np.round(values, decimals) if decimals <= MOST_DECIMALS else values) + 0.0
