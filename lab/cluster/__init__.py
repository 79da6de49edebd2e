"""Fits on a Dask cluster: rounds and bytes by formula, simulation of their time."""
