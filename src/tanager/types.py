"""Type aliases, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
CodeArray = npt.NDArray[np.unsignedinteger]
"""Integer codes of states; the code ``n_states`` stands for a missing value."""

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]
IntArray = npt.NDArray[np.int64]
LabelArray = npt.NDArray[np.integer]
"""Integer codes of classes; the code ``n_classes`` stands for an unlabelled sample."""

Edge = tuple[int, int]
"""Positions of two variables that an edge joins or may join."""

Progress = Callable[[int, int, str], object]
"""Called after every step with its number, the number of steps and a text."""
