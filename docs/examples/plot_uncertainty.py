"""
Show how certain probabilities are
==================================

Credible intervals of the posterior follow from the counts, or from the curvature of a
factor model: few samples give wide intervals.
"""

# %%
# Intervals of some samples
# -------------------------
from tanager import BayesNetClassifier, datasets

data = datasets.load("breast_cancer")
few = BayesNetClassifier(structure="tan", parameters="fe").fit(data.X[:60], data.y[:60])
many = BayesNetClassifier(structure="tan", parameters="fe").fit(
    data.X[:500], data.y[:500]
)
samples = data.X[500:505]
for name, model in (("60 samples", few), ("500 samples", many)):
    print(name)
    print(model.credible_interval(samples).to_frame().head(5))

# %%
many.credible_interval(samples).plot()
