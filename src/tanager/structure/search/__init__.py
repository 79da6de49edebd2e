"""Score-based structure search: one loop, many learners."""
