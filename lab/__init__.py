"""Reproduction of the papers, benchmarks and studies; not part of the package."""
