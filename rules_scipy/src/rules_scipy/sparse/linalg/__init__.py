"""Rules for `scipy.sparse.linalg`: solutions, by one adjoint solution of the same kind.

The gradient by a sparse matrix is computed at the places that it stores, and nowhere else.
"""
