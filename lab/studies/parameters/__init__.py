"""Which parameters should I learn? The numbers and figures of docs/parameters.md."""
