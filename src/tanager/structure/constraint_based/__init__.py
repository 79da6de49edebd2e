"""Constraint-based structure learning by independence tests."""
