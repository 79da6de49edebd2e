"""Networks of any structure: what is found again, and what unlabelled rows add."""
