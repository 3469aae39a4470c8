"""Elementwise functions with several results, such as `scipy.special.sici`."""

import inspect

import numpy as np

from rulescore import Numeric, project


def several_outputs(rule, *functions, refuses=None):
    """Declare the partial derivatives of elementwise functions that return a tuple.

    Give a function for each argument. It takes all arguments, and then the tuple that was returned;
    it returns the derivative of each entry by its argument. `None` stands for no gradient.
    """

    def declare(*parts):
        given = next(part for part in parts if part is not None)
        names = list(inspect.signature(given).parameters)[: len(parts)]
        for f in functions:
            rule(f, refuses=refuses)(_body(f, names, parts))

    return declare


def _body(f, names, parts):
    def body(*xs):
        outputs = f(*xs)
        return outputs, tuple(
            [part and _pullback(part, x, xs, outputs) for part, x in zip(parts, xs, strict=True)]
        )

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    body.__signature__ = inspect.Signature(
        [inspect.Parameter(name, kind, annotation=Numeric) for name in names]
    )
    return body


def _pullback(part, x, xs, outputs):
    def pullback(dy):
        with np.errstate(all="ignore"):
            slopes = part(*xs, outputs)
            found = [strong(d, p) for d, p in zip(dy, slopes, strict=True) if d is not None]
        return project(sum(found), x) if found else None

    return pullback


def strong(dy, partial):
    """Return `conj(partial) * dy`, where a zero of `dy` wins over an infinite partial."""
    if isinstance(dy, float | complex) and isinstance(partial, float | complex):
        return dy * partial.conjugate() if dy else 0.0
    return np.where(dy == 0, 0.0, dy * np.conj(partial))
