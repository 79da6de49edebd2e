"""Residual trees: structure from score tests on the residuals of the model."""
