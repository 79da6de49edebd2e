"""Measurements behind the advice in ``docs/``; not part of the package."""
