"""
Use expert knowledge
====================

Require or forbid arcs, or give tiers: features of a later tier are never parents of
those of an earlier one.
"""

# %%
# Without and with constraints
# ----------------------------
from tanager import BayesNetClassifier, ChowLiu, Constraints, datasets

wine = datasets.load("wine")
free = BayesNetClassifier(structure=ChowLiu(), parameters="fe").fit(wine.X, wine.y)
print("free:", free.network_.parents("hue"))

constraints = Constraints(
    required=[("alcohol", "hue")], forbidden=[("malic_acid", "hue")]
)
bound = BayesNetClassifier(structure=ChowLiu(constraints=constraints), parameters="fe")
bound.fit(wine.X, wine.y)
print("constrained:", bound.network_.parents("hue"))
bound.network_.plot()
