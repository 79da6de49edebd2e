"""
Ask for the most useful feature first
=====================================

At a desk, values become known one by one. ``next_question`` ranks the unknown features
by expected information about the class, with costs if you have them.
"""

# %%
# One patient, step by step
# -------------------------
from tanager import BayesNetClassifier, datasets

data = datasets.load("breast_cancer")
model = BayesNetClassifier(structure="tan-res").fit(data.X[30:], data.y[30:])
patient = data.X[:1]
known = {name: [None] for name in data.X.columns}
for _ in range(4):
    p = model.predict_proba(known)[0]
    question = model.next_question(known)
    feature = question.columns()["feature"][0]
    print(f"P({model.classes_[1]}) = {p[1]:.3f}; ask for {feature!r}")
    known[feature] = [patient[feature].iloc[0]]

# %%
# The ranking with nothing known:
model.next_question({name: [None] for name in data.X.columns}).plot()
