"""Automatic differentiation of plain Python and NumPy by source transformation."""
