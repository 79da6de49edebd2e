"""Orders of features, and KDB, which adds parents along an order."""
