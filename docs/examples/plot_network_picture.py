"""
Draw a network and ask it
=========================

Trees and general structures give a Bayesian network that answers queries about any
variable.
"""

# %%
# The network
# -----------
# Class arcs are faded; the width of an arc is its conditional mutual information.
from tanager import BayesNetClassifier, datasets

wine = datasets.load("wine")
model = BayesNetClassifier(structure="tan", parameters="fe").fit(wine.X, wine.y)
model.network_.plot()

# %%
# Queries
# -------
# Features without evidence are marginalised.
for evidence in ({}, {"proline": 1200.0}, {"proline": 1200.0, "flavanoids": 0.6}):
    posterior = model.network_.posterior(evidence)
    print(evidence, {label: round(p, 3) for label, p in posterior.items()})
