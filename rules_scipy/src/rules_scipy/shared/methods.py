"""Elementwise methods of SciPy's distributions, such as densities."""

import inspect

import numpy as np
from scipy import stats

from rules_scipy.shared.outputs import strong
from rulescore import Numeric, project


def of_methods(rule, distribution, *names, refuses=None):
    """Declare the partial derivatives of methods of a distribution, by all but the object.

    Give a function for each argument. It takes the object, all arguments, and then the value; it
    returns the derivative by its argument. `None` stands for no gradient. A derivative of 0, as
    that of a probability too small for a number, wins over an infinite cotangent.
    """

    def declare(*parts):
        for name in names:
            f = getattr(type(distribution), name)
            rule(f, refuses=refuses)(_body(f, parts))

    return declare


def of_both_sides(rule, distribution, refuses=None):
    """Declare the partial derivatives of `_cdf`, and their negatives as those of `_sf`.

    They are given as for `of_methods`, and may not use the value, which differs.
    """

    def declare(*parts):
        of_methods(rule, distribution, "_cdf", refuses=refuses)(*parts)
        of_methods(rule, distribution, "_sf", refuses=refuses)(*map(_negative, parts))

    return declare


def _negative(part):
    return part and (lambda *xs: -part(*xs))


def _body(f, parts):
    def body(self, *xs):
        y = f(self, *xs)
        pullbacks = [
            part and _pullback(part, x, (self, *xs), y) for part, x in zip(parts, xs, strict=True)
        ]
        return y, (None, *pullbacks)

    names = list(inspect.signature(f).parameters)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    types = [stats.rv_continuous | stats.rv_discrete, *[Numeric] * len(parts)]
    body.__signature__ = inspect.Signature(
        [inspect.Parameter(n, kind, annotation=t) for n, t in zip(names, types, strict=True)]
    )
    return body


def _pullback(part, x, operands, y):
    def pullback(dy):
        with np.errstate(all="ignore"):
            slope = part(*operands, y)
            return project(np.where((slope == 0) & ~np.isfinite(dy), 0.0, strong(dy, slope)), x)

    return pullback
