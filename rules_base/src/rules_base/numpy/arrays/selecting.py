"""Choosing among arrays entry by entry: where, clip, choose, select, compress and extract."""

import numpy as np

from rules_base.numpy.arrays.indexing import scatter
from rules_base.shared.nesting import ArrayLike, as_array, in_form_of, in_kind_of
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import aligned

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.selecting", may_raise=False)


@rule(np.where)
def _(condition: object, x: ArrayLike, y: ArrayLike):
    x_array = x if type(x) is np.ndarray else as_array(x)
    y_array = y if type(y) is np.ndarray else as_array(y)

    def dx(dz):
        return in_form_of(x, np.where(condition, dz, 0.0), x_array)

    def dy(dz):
        return in_form_of(y, np.where(condition, 0.0, dz), y_array)

    return np.where(condition, x_array, y_array), (None, dx, dy)


@rule.forward(np.where)
def _(condition: object, x: ArrayLike, y: ArrayLike):
    def pushforward(_, dx, dy):
        return np.where(condition, 0.0 if dx is None else dx, 0.0 if dy is None else dy)

    return np.where(condition, x, y), pushforward


@rule(np.where)
def _(condition: object):
    def pullback(dy):
        return (None,)

    return np.where(condition), pullback


@rule(np.clip, np.ndarray.clip, np.generic.clip)
def _(x: Numeric, lower: Numeric | None, upper: Numeric | None):
    def at_limits(dy):
        raised = x if lower is None else np.maximum(x, lower)
        draised, at_upper = minimum_cotangents(dy, raised, upper)
        at_lower = None if lower is None else np.where(x == lower, 0.5 * draised, 0.0)
        return dy, raised, at_upper, draised, at_lower

    def dx(found):
        _, _, _, draised, at_lower = found
        return project(draised if lower is None else np.where(x > lower, draised, at_lower), x)

    def dlower(found):
        _, _, _, draised, at_lower = found
        return None if lower is None else project(np.where(x < lower, draised, at_lower), lower)

    def dupper(found):
        dy, raised, at_upper, _, _ = found
        return None if upper is None else project(np.where(raised > upper, dy, at_upper), upper)

    return np.clip(x, lower, upper), (at_limits, (dx, dlower, dupper))


@rule(np.ndarray.clip, np.generic.clip)
def _(x: Numeric, lower: Numeric):
    def at_lower(dy):
        return dy, np.where(x == lower, 0.5 * dy, 0.0)

    def dx(found):
        return project(np.where(x > lower, found[0], found[1]), x)

    def dlower(found):
        return project(np.where(x < lower, found[0], found[1]), lower)

    return np.clip(x, lower, None), (at_lower, (dx, dlower))


@rule.forward(np.clip, np.ndarray.clip, np.generic.clip)
def _(x: Numeric, lower: Numeric | None, upper: Numeric | None):
    def pushforward(dx, dlower, dupper):
        raised, dy = x, dx
        if lower is not None:
            raised, dy = np.maximum(x, lower), chosen_tangent(x > lower, x == lower, dx, dlower)
        if upper is not None:
            dy = chosen_tangent(raised < upper, raised == upper, dy, dupper)
        return dy

    return np.clip(x, lower, upper), pushforward


@rule.forward(np.ndarray.clip, np.generic.clip)
def _(x: Numeric, lower: Numeric):
    def pushforward(dx, dlower):
        return chosen_tangent(x > lower, x == lower, dx, dlower)

    return np.clip(x, lower, None), pushforward


@rule.forward(np.clip, np.ndarray.clip, np.generic.clip)
def _(x: Numeric, *, min=None, max=None):
    def pushforward(dx):
        raised, dy = x, dx
        if min is not None:
            raised, dy = np.maximum(x, min), chosen_tangent(x > min, x == min, dx, None)
        if max is not None:
            dy = chosen_tangent(raised < max, raised == max, dy, None)
        return dy

    return np.clip(x, min, max), pushforward


def chosen_tangent(is_first, is_tie, dx, dlimit):
    """Return the tangent of a minimum or maximum with a limit: at a tie the mean of both."""
    dx, dlimit = 0.0 if dx is None else dx, 0.0 if dlimit is None else dlimit
    return np.where(is_first, dx, np.where(is_tie, 0.5 * dx + 0.5 * dlimit, dlimit))


@rule(np.clip, np.ndarray.clip, np.generic.clip)
def _(x: Numeric, *, min=None, max=None):
    def pullback(dy):
        dx, _ = minimum_cotangents(dy, x if min is None else np.maximum(x, min), max)
        if min is not None:
            dx = np.where(x > min, dx, np.where(x == min, 0.5 * dx, 0.0))
        return (project(dx, x),)

    return np.clip(x, min, max), pullback


def minimum_cotangents(dy, x, upper):
    """Return the cotangent of `x` in its minimum with `upper`, and what both share at a tie.

    Cotangents are chosen, not multiplied: an infinite `dy` does not leak to where it does not
    belong.
    """
    if upper is None:
        return dy, None
    tie = np.where(x == upper, 0.5 * dy, 0.0)
    return np.where(x < upper, dy, tie), tie


@rule(np.choose, np.ndarray.choose)
def _(which: ArrayLike, choices: list | tuple, *, mode="raise"):
    def pullback(dy):
        return None, in_kind_of(choices, chosen_cotangents(dy, which, choices, mode))

    return choose(which, choices, mode), pullback


@rule(np.choose, np.ndarray.choose)
def _(which: ArrayLike, choices: Array, *, mode="raise"):
    def pullback(dy):
        return None, np.stack(chosen_cotangents(dy, which, choices, mode))

    return choose(which, choices, mode), pullback


def choose(which, choices, mode):
    """Call `np.choose`, naming the mode only where it is not the usual one, which dask lacks."""
    more = {} if mode == "raise" else {"mode": mode}
    return np.choose(which, choices, **more)


def chosen_cotangents(dy, which, choices, mode):
    """Return the cotangent of each choice: `dy` where it was chosen."""
    n, which = len(choices), as_array(which)
    if mode != "raise":
        which = which % n if mode == "wrap" else np.clip(which, 0, n - 1)
    return [project(np.where(which == k, dy, 0.0), choice) for k, choice in enumerate(choices)]


@rule(np.select)
def _(conditions: list, choices: list, default: Numeric):
    def pullback(dy):
        dchoices, ddefault = selected_cotangents(dy, conditions, choices, default)
        return None, dchoices, ddefault

    return np.select(conditions, choices, default), pullback


@rule(np.select)
def _(conditions: list, choices: list):
    def pullback(dy):
        return None, selected_cotangents(dy, conditions, choices, 0)[0]

    return np.select(conditions, choices), pullback


def selected_cotangents(dy, conditions, choices, default):
    """Return the cotangents of the choices and of the default: the first true condition takes."""
    dchoices = []
    for condition, choice in zip(conditions, choices, strict=True):
        dchoices.append(project(np.where(condition, dy, 0.0), choice))
        dy = np.where(condition, 0.0, dy)
    return dchoices, project(dy, default)


@rule(np.compress)
def _(condition: object, x: Array, axis=None):
    def pullback(dy):
        return None, compressed_back(dy, condition, x, axis)

    return np.compress(condition, x, axis), pullback


@rule(np.ndarray.compress)
def _(x: Array, condition=None, axis=None):
    def pullback(dy):
        return (compressed_back(dy, condition, x, axis),)

    return np.compress(condition, x, axis), pullback


def compressed_back(dy, condition, x, axis):
    """Return the cotangent of `x` in `np.compress(condition, x, axis)`."""
    (kept,) = np.nonzero(condition)
    if axis is None:
        return np.reshape(scatter(dy, np.reshape(x, (-1,)), kept), x.shape)
    return scatter(dy, x, (slice(None),) * (axis % x.ndim) + (kept,))


@rule(np.extract)
def _(condition: object, x: Array):
    def pullback(dy):
        (kept,) = np.nonzero(np.ravel(condition))
        return None, np.reshape(scatter(dy, np.ravel(x), kept), x.shape)

    return np.extract(condition, x), pullback


# -- of batches


@rule.batched(np.where)
def _(condition: Numeric | bool, x: Numeric, y: Numeric):
    return np.where(*aligned(condition, x, y))


@rule.batched(np.clip, np.ndarray.clip, np.generic.clip)
def _(x: Numeric, low: Numeric | None, high: Numeric | None):
    return np.clip(*aligned(x, low, high))
