"""
Tune with scikit-learn
======================

Every component is a scikit-learn estimator, so grid searches reach into it.
"""

# %%
# The strength of a penalty
# -------------------------
# ``C`` is the inverse of the penalty on the log weights, as in logistic regression.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from tanager import BayesNetClassifier, ConditionalLikelihood, datasets

data = datasets.load("breast_cancer")
model = BayesNetClassifier(structure="nb", parameters=ConditionalLikelihood(C=1.0))
strengths = np.logspace(-3, 2, 6)
search = GridSearchCV(model, {"parameters__C": strengths}, scoring="neg_log_loss", cv=3)
search.fit(data.X, data.y)
print(search.best_params_, f"log loss {-search.best_score_:.3f}")

# %%
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.semilogx(strengths, -search.cv_results_["mean_test_score"], marker="o")
axes.set(xlabel="C", ylabel="log loss, three folds")
