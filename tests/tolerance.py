"""The one place for numerical tolerances."""

from __future__ import annotations

import numpy as np

EXACT = 1e-12
TABLES = 1e-9
SEARCH = 1e-6
"""Where two searches end that round differently on the way."""
CERTIFIED = 1e-3
"""Where two convex searches end that stop by a tolerance of 1e-4 on the gradient."""


def assert_close(actual, expected, tolerance=TABLES):
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
