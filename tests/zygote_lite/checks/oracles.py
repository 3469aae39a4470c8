"""What the tests of the optimizer share: the answer of the tape, to compare with.

A function is specialized at its second call; from the third on specialized code answers, where
its guards hold.
"""

import copy
import warnings

import numpy as np

from rulescore import Tangent
from zygote_lite import testing
from zygote_lite._interface.gradients import raw_value_and_gradient

CALLS = 3  # the last of them is answered by specialized code


generic_only = testing.recorded_only
specialized_only = testing.transformed_only


def outcome(call):
    """Return what comes of a call: its value, or the class and text of its error.

    Of an error that begins with the line of the call itself, the text is without that.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return "value", call()
        except Exception as error:
            text, code = str(error), call.__code__
            here = {f"{code.co_filename}:{line}: " for _, _, line in code.co_lines()}
            place = next(filter(text.startswith, here), "")
            return "error", type(error), text.removeprefix(place)


def generic(f, xs, argnums):
    """Return the outcome of the tape."""
    with generic_only():
        return outcome(lambda: raw_value_and_gradient(f, argnums)(*xs))


def is_alike(a, b, tolerance=1e-10):
    """Return whether two results have the same types and nearly the same numbers.

    `None` and a zero of the argument's kind are the same: where a branch decides whether a value
    depends on an argument, the tape answers `None`, and specialized code a zero.
    """
    if a is None or b is None:
        return is_nothing(a) and is_nothing(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, Tangent):
        a, b = dict(a.items()), dict(b.items())
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(is_alike(a[k], b[k], tolerance) for k in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(
            is_alike(x, y, tolerance) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, np.ndarray | np.generic | float | complex):
        if getattr(a, "dtype", None) != getattr(b, "dtype", None) or np.shape(a) != np.shape(b):
            return False
        if np.asarray(a).dtype.kind not in "fc":
            return bool(np.array_equal(a, b))
        with np.errstate(all="ignore"):
            return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
    return not isinstance(a, int | str | None) or a == b


def is_nothing(d):
    """Return whether a gradient is `None`, or a zero of whatever kind."""
    if isinstance(d, Tangent | dict):
        return all(is_nothing(part) for _, part in d.items())
    if isinstance(d, tuple | list):
        return all(map(is_nothing, d))
    return d is None or (not isinstance(d, str) and not np.any(d))


def is_specialized(f):
    """Return whether code was made for a function."""
    return bool(testing.programs(f))


def answers(f, xs):
    """Return whether specialized code answers a call."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return testing.is_covered(f, *copy.deepcopy(xs))


def assert_agreement(f, first, *later, argnums=None, tolerance=1e-10):
    """Assert that a function gives what the tape gives, specialized or not.

    It is called with the first arguments until specialized code answers, then twice with each of
    the later ones, and with the first again. Arguments hold afterwards what they hold after the
    tape. Returns whether code was made.
    """
    numbers = tuple(range(len(first))) if argnums is None else argnums
    differentiated = raw_value_and_gradient(f, numbers)
    for xs in [first] * CALLS + [xs for xs in later for _ in (1, 2)] + [first]:
        given, expected = copy.deepcopy(xs), copy.deepcopy(xs)
        want = generic(f, expected, numbers)
        got = outcome(lambda given=given: differentiated(*given))
        assert is_alike(got, want, tolerance), f"{xs}: {got}, and generic {want}"
        assert is_alike(given, expected, 0.0), f"{xs} became {given}, and generic {expected}"
    return is_specialized(f)
