"""
Find an interaction of two features
===================================

The class depends on the sign of a product, so neither feature alone says anything. The
search finds the pair by a score test on the residuals and draws it as a heat map.
"""

# %%
# A product of two features
# -------------------------
import numpy as np

from tanager import BayesNetClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 6))
y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=3000) > 0).astype(int)
model = BayesNetClassifier().fit(X[:2000], y[:2000])
print("interactions:", model.network_.interactions)
print(f"accuracy: {model.score(X[2000:], y[2000:]):.3f}")

# %%
# What the pair adds to the log odds:
model.effect("x0", "x1").plot()
