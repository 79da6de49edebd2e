"""Which structure should I learn? The numbers and figures of docs/structure.md."""
