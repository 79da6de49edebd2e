"""Drawings for the documentation that explain methods and show no results."""
