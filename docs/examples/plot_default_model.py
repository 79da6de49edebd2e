"""
Fit, score and read the default model
=====================================

The default model is a sum of curves and small tables. Its most important factors are
drawn as they are: nothing is approximated.
"""

# %%
# Fit
# ---
from sklearn.model_selection import train_test_split

from tanager import BayesNetClassifier, datasets

data = datasets.load("breast_cancer")
X, X_test, y, y_test = train_test_split(
    data.X, data.y, test_size=0.3, random_state=0, stratify=data.y
)
model = BayesNetClassifier().fit(X, y)
print(f"accuracy on {len(y_test)} test samples: {model.score(X_test, y_test):.3f}")

# %%
# Read
# ----
# A curve shows what a value adds to the log odds of the second class, with a band of
# one standard error; bars show where the training samples are.
model.network_.plot_effects(6)
