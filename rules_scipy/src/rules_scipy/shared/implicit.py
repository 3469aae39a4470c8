"""The implicit function theorem: the cotangent of what solves an equation.

Where `f(x, *args) == 0`, the derivative of `x` by `args` is `-(df/dx)^-1 df/dargs`. Of a minimum,
`f` is the gradient. (Griewank and Walther, Evaluating Derivatives, section 15.1.)
"""

import numpy as np

from rules_scipy.shared.solvers import as_arguments, like_arguments


def residuals(f, x, *args):
    """Return the residuals of a function as a vector: it may give a list."""
    return np.ravel(np.asarray(f(x, *args)))


def of_root(ad, f, x, args, dx, about, read=residuals):
    """Return the cotangents of `f` and of `args`, where `x` solves `f(x, *args) == 0`.

    Arguments:
        ad: the AD.
        f: the user's function, of an array and the `args`.
        x: the solution, an array.
        dx: its cotangent, of its shape.
        about: what the system is called in an error.
        read: the residuals as a vector, from `f`, `x` and `args`.
    """
    if dx is None:
        return None, None
    y, back = ad(read, f, x.copy(), *as_arguments(args))
    if np.size(y) != np.size(x):
        raise NotImplementedError(f"{about} has {np.size(y)} equations for {np.size(x)} unknowns")
    _, df, _, *dargs = back(-solved(adjoint_of(back, y, x), np.ravel(dx), about))
    return df, like_arguments(dargs, args)


def adjoint_of(back, y, x):
    """Return the adjoint of a Jacobian: a column of cotangents of `x` for each entry of `y`."""
    units = np.eye(np.size(y), dtype=np.result_type(y, 1.0))
    rows = [back(e.reshape(np.shape(y))[()])[2] for e in units]
    return np.stack([np.zeros(np.size(x)) if d is None else np.ravel(d) for d in rows]).T


def solved(a, b, about):
    """Return the solution of `a w = b`.

    Raises `LinAlgError` where `a` is singular to working precision, whatever the units of its rows
    and columns.
    """
    if not a.size:
        return b
    if not np.all(np.isfinite(a)):
        raise np.linalg.LinAlgError(f"{about} has a derivative that is not finite")
    rows = largest(a, axis=1)
    columns = largest(a / rows, axis=0)
    scaled = a / rows / columns
    if np.linalg.cond(scaled) * np.finfo(scaled.dtype).eps >= 0.1:
        raise np.linalg.LinAlgError(
            f"{about} has a singular derivative: its solution does not move smoothly"
        )
    return np.linalg.solve(scaled, b / np.ravel(rows)) / np.ravel(columns)


def largest(a, axis):
    """Return the largest magnitudes of rows or columns, one where they are zero."""
    found = np.max(np.abs(a), axis=axis, keepdims=True)
    return np.where(found == 0, 1.0, found)
