"""Objects of SciPy that are made of arrays, and their cotangents.

From SciPy 1.18 on, piecewise polynomials and splines hold another object, which has the arrays.
"""

import sys

from rules_scipy.shared.solvers import name_of, with_gradients
from rulescore import Tangent, accumulate


def field_of(x, name):
    """Return the name of the attribute in which an object holds what it shows as `name`."""
    hidden = sys.intern(f"_{name}")  # Python remembers each text by which it looks for an attribute
    return hidden if hasattr(x, hidden) else name


def tangent_of(x, /, **fields):
    """Return the cotangent of an object from those of its arrays."""
    inner = getattr(x, "_delegate_to", None)
    if inner is not None:
        return Tangent(type(x), _delegate_to=tangent_of(inner, **fields))
    return Tangent(type(x), **{field_of(x, name): d for name, d in fields.items()})


def fields_in(dx, x, /, *names):
    """Return the cotangents of the arrays of an object, `None` where it has none.

    Raises `NotImplementedError` where anything else in it has one, but for integers such as a
    degree, which are choices.
    """
    inner = getattr(x, "_delegate_to", None)
    if inner is not None:
        dx = None if dx is None else dict(dx.items()).get("_delegate_to")
        return fields_in(dx, inner, *names)
    given = {} if dx is None else {name: d for name, d in dx.items() if d is not None}
    given = {name: d for name, d in given.items() if not isinstance(getattr(x, name), int)}
    found = [given.pop(field_of(x, name), None) for name in names]
    if given:
        raise NotImplementedError(
            f"of what {name_of(type(x))} holds {with_gradients(names)}, and not "
            f"{', '.join(given)}: compute that from values of it"
        )
    return found


def classes_of(cls, module):
    """Return the classes that a class of SciPy stands for: itself, and that of what it holds."""
    inner = getattr(module, f"_{cls.__name__}", None)
    return (cls,) if inner is None else (cls, inner)


def added(*ds):
    """Return the sum of cotangents, of which some may be `None`."""
    total = None
    for d in ds:
        total = accumulate(total, d)
    return total
