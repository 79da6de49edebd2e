"""Log-linear models: sums of small log tables, fitted by conditional likelihood."""
