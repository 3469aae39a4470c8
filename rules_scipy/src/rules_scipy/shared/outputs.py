"""Elementwise functions with several results, such as `scipy.special.sici`."""

import cmath
import contextvars
import inspect
from functools import partial
from math import isfinite

import numpy as np

from rulescore import Numeric, project

_REAL = frozenset((float, np.float64))

# Where NumPy warns of nothing. To run in a copy of it costs a tenth of `np.errstate`.
_QUIET = contextvars.copy_context()
_QUIET.run(np.seterr, all="ignore")


def several_outputs(rule, *functions, refuses=None):
    """Declare the partial derivatives of elementwise functions that return a tuple.

    Give a function for each argument. It takes all arguments, and then the tuple that was returned;
    it returns the derivative of each entry by its argument. `None` stands for no gradient.
    """

    def declare(*parts):
        for f in functions:
            rule(f, refuses=refuses)(_of_one(f, *parts) if len(parts) == 1 else _of_many(f, parts))

    return declare


def _of_one(f, part):
    def body(x: Numeric):
        y = f(x)

        def pullback(dy):
            return (_QUIET.copy().run(_cotangent, dy, part, (x, y), x),)

        return y, pullback

    return body


def _of_many(f, parts):
    count = len(parts)
    known = [(i, part) for i, part in enumerate(parts) if part is not None]

    def body(*xs):
        y = f(*xs)
        given = (*xs, y)
        pullbacks = [None] * count
        for i, part in known:
            pullbacks[i] = partial(_pulled, part, given, xs[i])
        return y, tuple(pullbacks)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    body.__signature__ = inspect.Signature(
        [
            inspect.Parameter(name, kind, annotation=Numeric)
            for name in list(inspect.signature(known[0][1]).parameters)[: len(parts)]
        ]
    )
    return body


def _pulled(part, given, x, dy):
    return _QUIET.copy().run(_cotangent, dy, part, given, x)


def _cotangent(dy, part, given, x):
    """Return the cotangent of `x` from those of the results, which are `None` or numbers each."""
    slopes = part(*given)
    total = None
    for d, p in zip(dy, slopes, strict=True):
        if d is not None:
            product = d * p if type(p) in _REAL else d * p.conjugate()
            total = product if total is None else total + product
    if total is None:
        return None
    if type(total) in _REAL and isfinite(total):
        return float(total) if type(x) is float else project(total, x)
    if not isfinite(abs(np.vdot(total, total))):
        pairs = zip(dy, slopes, strict=True)
        total = sum([strong(d, p) for d, p in pairs if d is not None])
    return project(total, x)


def strong(dy, partial):
    """Return `conj(partial) * dy`, where a zero of `dy` wins over an infinite partial.

    It wins over nothing else: there the derivative by `dy` is the partial, at 0, too.
    """
    if isinstance(dy, float | complex) and isinstance(partial, float | complex):
        return dy * partial.conjugate() if dy or cmath.isfinite(partial) else 0.0
    return np.where((dy == 0) & ~np.isfinite(partial), 0.0, dy * np.conj(partial))
