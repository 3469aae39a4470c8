"""The implicit function theorem: the cotangent of what solves an equation.

Where `f(x, *args) == 0`, the derivative of `x` by `args` is `-(df/dx)^-1 df/dargs`. Of a minimum,
`f` is the gradient. (Griewank and Walther, Evaluating Derivatives, section 15.1.)
"""

import numpy as np

from rules_scipy.shared.solvers import as_arguments, like_arguments, name_of, refuse_unsolved


def residuals(f, x, *args):
    """Return the residuals of a function as a vector: it may give a list."""
    return np.ravel(np.asarray(f(x, *args)))


class Solution:
    """Pull the cotangent of a solution back to the system and its arguments.

    The system is differentiated at once: what it captured may be another thing later.

    Arguments:
        ad: the AD.
        solve: SciPy's function, for errors.
        f: the user's function, of an array and the `args`.
        x: the solution, an array.
        args: what SciPy passes on.
        done: whether `x` is a solution.
        read: the residuals as a vector, from `f`, `x` and `args`.
    """

    def __init__(self, ad, solve, f, x, args=(), done=True, read=residuals):
        self.solve, self.x, self.args, self.done = solve, x, args, done
        self.about = f"the system that {name_of(solve)} has solved"
        if done:
            self.y, self.back = ad(read, f, x.copy(), *as_arguments(args))

    def pulled(self, dx):
        """Return the cotangents of the system and of `args`."""
        if dx is None:
            return None, None
        refuse_unsolved(self.solve, self.done)
        equations, unknowns = np.size(self.y), np.size(self.x)
        if equations != unknowns:
            raise NotImplementedError(
                f"{self.about} has {equations} equations for {unknowns} unknowns: give as many "
                "equations as unknowns, or use `scipy.optimize.least_squares`"
            )
        adjoint = adjoint_of(self.back, self.y, self.x)
        _, df, _, *dargs = self.back(-solved(adjoint, np.ravel(dx), self.about))
        return df, like_arguments(dargs, self.args)


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
