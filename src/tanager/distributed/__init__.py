"""Coded samples on the workers of a Dask cluster; Dask is imported when used."""
