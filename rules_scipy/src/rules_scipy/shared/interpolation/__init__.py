"""What rules for interpolation share: B-splines, systems of them, pieces, and SciPy's objects."""
