"""LAPACK's routines by their precision, and systems with one triangle of a matrix."""

import numpy as np
from scipy.linalg import LinAlgError, lapack

PREFIX = {"f": "s", "d": "d", "F": "c", "D": "z"}


def routine(name, x):
    """Return the routine of LAPACK for the precision of an array."""
    return getattr(lapack, PREFIX[x.dtype.char] + name)


def triangular_solve(a, b, lower=False, trans=0, unit=False):
    """Solve `op(a) x = b`, where one triangle of `a` is read; stacks one after the other.

    Arguments:
        trans: 0, 1 or 2 for `a` itself, its transpose or its adjoint.
    """
    if a.ndim > 2:
        each = zip(a, np.broadcast_to(b, a.shape[:1] + b.shape[1:]), strict=True)
        found = [triangular_solve(m, y, lower, trans, unit) for m, y in each]
        return np.stack(found) if found else np.zeros_like(b)
    if not (len(a) and np.size(b)):
        return b
    if trans < 2 and not a.flags.f_contiguous:  # which LAPACK would copy
        a, lower, trans = a.T, not lower, 1 - trans
    kind = np.result_type(a, b).type(0)
    x, info = routine("trtrs", kind)(a, b, lower=lower, trans=trans, unitdiag=unit)
    if info > 0:
        raise LinAlgError("a triangular factor is singular")
    return x
