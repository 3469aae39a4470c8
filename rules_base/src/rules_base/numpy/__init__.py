"""Rules for NumPy, and for the operators of Python that mean the same."""
