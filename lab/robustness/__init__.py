"""Checks that nothing breaks the library: fuzzing, killed processes."""
