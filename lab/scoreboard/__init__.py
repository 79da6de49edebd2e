"""The scoreboard: all rivals on all tables of a data folder, with the same splits."""
