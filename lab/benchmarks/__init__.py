"""Speed and memory, measured against other libraries and plain versions.

Run with ``make bench`` or ``python -m lab bench``. Everything claimed is a ratio of
two measurements of one run; absolute times only say on what scale it happened.
"""
