"""Helpers without a domain: validation, threads, compilation, atomic writes."""
