"""
Explain one prediction
======================

Contributions are exact: with the prior they sum to the log odds of the model.
"""

# %%
# Contributions
# -------------
from tanager import BayesNetClassifier, datasets

data = datasets.load("breast_cancer")
model = BayesNetClassifier().fit(data.X[50:], data.y[50:])
sample = data.X[:1]
explanation = model.explain(sample)
explanation.plot()

# %%
# They sum to the log odds:
log_p = model.predict_log_proba(sample)[0]
print(f"log odds of the model     {log_p[1] - log_p[0]:.10f}")
print(f"prior and contributions   {explanation.log_odds[0, 0]:.10f}")

# %%
# What would change the decision?
# -------------------------------
# The smallest change of features that leads to another class, proven minimal for up to
# three changes.
print(model.counterfactual(sample).to_frame())
