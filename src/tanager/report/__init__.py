"""One-file HTML reports of models and comparisons."""
