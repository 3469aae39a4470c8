"""Rules for `numpy.linalg`."""
