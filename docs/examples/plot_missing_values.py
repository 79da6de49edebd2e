"""
Predict with fewer and fewer features
=====================================

A tree marginalises features that are not known, exactly. We hide features at random
and compare the log loss with that of median imputation before logistic regression.
"""

# %%
# Hide features
# -------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tanager import BayesNetClassifier, datasets

data = datasets.load("breast_cancer")
X, X_test, y, y_test = train_test_split(
    data.X.to_numpy(), data.y, test_size=0.4, random_state=0, stratify=data.y
)
models = {
    "tree, marginalised": BayesNetClassifier(structure="tan-res"),
    "factors, averaged": BayesNetClassifier(),
    "logistic regression, imputed": make_pipeline(
        SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression()
    ),
}
rates = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9])
hidden_order = np.random.default_rng(0).random(X_test.shape)
figure, axes = plt.subplots(figsize=(6, 4))
for name, model in models.items():
    model.fit(X, y)
    losses = []
    for rate in rates:
        incomplete = np.where(hidden_order < rate, np.nan, X_test)
        losses.append(log_loss(y_test, model.predict_proba(incomplete)))
    axes.plot(rates, losses, marker="o", label=name)
axes.set(xlabel="fraction of hidden values", ylabel="log loss")
axes.legend()
