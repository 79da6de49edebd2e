"""
Compare models with statistical tests
=====================================

``evaluate`` fits several models on the same folds and marks significant differences.
"""

# %%
# One dataset
# -----------
import matplotlib.pyplot as plt

import tanager
from tanager import datasets

data = datasets.load("breast_cancer")
found = tanager.evaluate(
    ["auto", "NB-ML", "TAN-CMI-ML", "NB+DFE"], data.X, data.y, cv=5
)
print(found)

# %%
# The scores of every fold, and their means:
figure, axes = plt.subplots(figsize=(6, 2.5), layout="constrained")
found.picture("accuracy").plot(axes)
