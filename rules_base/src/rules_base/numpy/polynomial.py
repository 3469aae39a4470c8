"""The package `numpy.polynomial`: values, and polynomials by their roots."""

import numpy as np

from rules_base.numpy.evalpoly import polyval_cotangents
from rules_base.shared.nesting import in_kind_of, unstacked
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.polynomial", may_raise=False)


@rule(np.polynomial.polynomial.polyval)
def _(x: Numeric, c: list | tuple, tensor=True):
    array = np.array(c)

    def pullback(dy):
        dx, dc = polyval_cotangents(dy, x, array, tensor)
        return dx, unstacked(dc, c)

    return np.polynomial.polynomial.polyval(x, array, tensor), pullback


@rule(np.polynomial.polynomial.polyval)
def _(x: Numeric, c: Array, tensor=True):
    if tensor and c.ndim > 1 and isinstance(x, Array) and not isinstance(x, np.ndarray):
        raise NotImplementedError(
            "NumPy's polyval takes `tensor` for its own arrays alone: give coefficients of shape "
            "(n, ..., 1) for arrays of other libraries, and tensor=False"
        )

    def pullback(dy):
        return polyval_cotangents(dy, x, c, tensor)

    return np.polynomial.polynomial.polyval(x, c, tensor), pullback


@rule(np.polynomial.polyutils.trimseq)
def _(seq: np.ndarray | list | tuple):
    y = np.polynomial.polyutils.trimseq(seq)
    if len(y) < len(seq):
        raise NotImplementedError(
            "numpy.polynomial drops trailing coefficients that are exactly 0, and their gradient "
            "would be lost: move them off 0, or use functions that keep them, as polyval"
        )

    def pullback(dy):
        if isinstance(seq, np.ndarray):
            return (project(dy, seq),)
        parts = [project(0.0 if d is None else d, x) for d, x in zip(dy, seq, strict=True)]
        return (in_kind_of(seq, parts),)

    return y, pullback


def declare_from_roots(f):
    """Declare the rule of a polynomial by its roots, whose own code trims zeros, and their slopes.

    Without the factor `x - root` the same polynomial is, but for its sign, the derivative by it.
    """

    @rule(f)
    def _(roots: np.ndarray | list | tuple):
        array = np.asarray(roots)

        def pullback(dy):
            slopes = [-f(np.delete(array, i)) for i in range(array.size)]
            parts = [np.sum(dy[: slope.size] * np.conj(slope)) for slope in slopes]
            return (unstacked(project(np.reshape(np.array(parts), array.shape), array), roots),)

        return f(roots), pullback


FROM_ROOTS = (
    np.polynomial.polynomial.polyfromroots,
    np.polynomial.chebyshev.chebfromroots,
    np.polynomial.legendre.legfromroots,
    np.polynomial.hermite.hermfromroots,
    np.polynomial.hermite_e.hermefromroots,
    np.polynomial.laguerre.lagfromroots,
)
for from_roots in FROM_ROOTS:
    declare_from_roots(from_roots)
