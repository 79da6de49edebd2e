"""
Run published methods by their names
====================================

A published name means the published algorithm. Here are structures of Pernkopf and
Bilmes (2010) with frequencies and with conditional likelihood as parameters.
"""

# %%
# Accuracy by structure and parameters
# ------------------------------------
import matplotlib.pyplot as plt
from sklearn.model_selection import cross_val_score

from tanager import BayesNetClassifier, datasets

data = datasets.load("wine")
names = ["NB-ML", "NB-CL", "TAN-CMI-ML", "TAN-CMI-CL", "TAN-OMI-CR-ML", "TAN-OMI-CR-CL"]
scores = {
    name: cross_val_score(
        BayesNetClassifier.from_name(name, paper="pernkopf2010"), data.X, data.y, cv=5
    )
    for name in names
}
figure, axes = plt.subplots(figsize=(6, 3))
axes.boxplot(list(scores.values()), orientation="horizontal", tick_labels=names)
axes.set(xlabel="accuracy, five folds of wine")
figure.tight_layout()
