"""`Adam`: stochastic gradient steps with adaptive step sizes."""

from __future__ import annotations

from math import sqrt

import numpy as np

from tanager.types import FloatArray


class Adam:
    """Adaptive moment estimation (Adam).

    Parameters
    ----------
    size : int
        Number of parameters.
    beta1, beta2 : float, default=0.9, 0.999
        Decay rates of the running means of the gradient and its square.
    epsilon : float, default=1e-8
        Added to the root mean square.

    Attributes
    ----------
    first, second : ndarray of float64, shape (size,)
        Running means of the gradient and of its square, without bias correction.
    steps : int
        Number of steps taken.

    Notes
    -----
    ``vector -= rate * m / (sqrt(v) + epsilon)``, where m and v are `first` and `second`
    divided by ``1 - beta1 ** steps`` and ``1 - beta2 ** steps`` [1]_.

    References
    ----------
    .. [1] Kingma, Ba (2015), Adam: a method for stochastic optimization, Algorithm 1.

    Examples
    --------
    >>> adam, vector = Adam(2), np.array([3.0, -1.0])
    >>> for _ in range(400):
    ...     adam.step(vector, 2 * vector, rate=0.05)
    >>> abs(vector.round(6))
    array([0., 0.])
    """

    def __init__(
        self,
        size: int,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.first: FloatArray = np.zeros(size)
        self.second: FloatArray = np.zeros(size)
        self.steps = 0

    def advance(self) -> tuple[float, float]:
        """Count a step; return the bias corrections of `first` and sqrt of `second`."""
        self.steps += 1
        return (
            1.0 / (1.0 - self.beta1**self.steps),
            1.0 / sqrt(1.0 - self.beta2**self.steps),
        )

    def step(self, vector: FloatArray, gradient: FloatArray, rate: float) -> None:
        """Update `vector`, in place, by one step against its gradient."""
        mean, root = self.advance()
        self.first += (1.0 - self.beta1) * (gradient - self.first)
        self.second += (1.0 - self.beta2) * (gradient * gradient - self.second)
        vector -= (
            rate * mean * self.first / (root * np.sqrt(self.second) + self.epsilon)
        )


def exponential_decay(rate: float, decay: float, epoch: int, n_epochs: int) -> float:
    """Return the rate of an epoch, from `rate` in the first to ``rate * decay``.

    Examples
    --------
    >>> [round(exponential_decay(0.1, 0.01, epoch, 3), 6) for epoch in range(3)]
    [0.1, 0.01, 0.001]
    """
    return float(rate * decay ** (epoch / max(1, n_epochs - 1)))
