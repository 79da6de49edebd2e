"""
Check the calibration of probabilities
======================================

Frequencies are overconfident where features are correlated; discriminatively trained
parameters are not.
"""

# %%
# Reliability of naive Bayes with frequencies and with smooth tables
# ------------------------------------------------------------------
import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.model_selection import cross_val_predict

from tanager import BayesNetClassifier, datasets

data = datasets.load("breast_cancer")
positive = data.y == data.y.unique()[1]
figure, axes = plt.subplots(figsize=(5, 5))
for name, parameters in (("frequencies", "fe"), ("conditional likelihood", "scl")):
    model = BayesNetClassifier(structure="nb", parameters=parameters)
    p = cross_val_predict(model, data.X, positive, cv=5, method="predict_proba")[:, 1]
    CalibrationDisplay.from_predictions(positive, p, n_bins=6, name=name, ax=axes)
axes.set_title("Naive Bayes with two kinds of parameters")
