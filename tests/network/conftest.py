"""Networks that several tests use."""

from __future__ import annotations

import pytest

from tanager import Network


@pytest.fixture
def sprinkler():
    """Rain and a sprinkler make the grass wet; the sprinkler depends on the rain."""
    return Network.build(
        {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "grass": ["dry", "wet"]},
        {
            "rain": [0.8, 0.2],
            "sprinkler": (["rain"], [[0.6, 0.4], [0.99, 0.01]]),
            "grass": (
                ["sprinkler", "rain"],
                [[[1.0, 0.0], [0.2, 0.8]], [[0.1, 0.9], [0.01, 0.99]]],
            ),
        },
        target="rain",
    )
