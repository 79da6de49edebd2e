"""Structures learned by gradients: Table 1 of Roth and Pernkopf (2020), and beyond."""
