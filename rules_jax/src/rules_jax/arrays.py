"""Rules for compiled functions of JAX that NumPy code calls by themselves.

`jax.jit(f)(x)` takes arrays of NumPy, and gives arrays of JAX, which `np.asarray` and `float` make
NumPy's again. Most functions of `jax.numpy` are compiled so. The cotangent of an array of JAX is
an array of NumPy.
"""

import jax
import jax.numpy as jnp
import numpy as np

from rules_jax.calls import Numpy, array_of, record
from rulescore import Numeric, RuleSet, project, zero
from rulescore.interop.foreign import begun, is_number, part_at

rule = RuleSet("rules_jax")
Compiled = type(jax.jit(lambda: None))
ArrayOfJax = type(jnp.zeros(()))


@rule.of_instances
def _(f: Compiled, *xs: object, **options):
    y, back, why = record(Numpy(f), *xs, **options)
    parts = [part_at(back, f, xs, i, why[i]) for i in range(len(xs) + 1)]
    for i, x in enumerate(xs):
        if type(x) is int:  # a factor, as in `y * 2`: an AD may ask for its cotangent, and drop it
            parts[i + 1] = part_of_whole(f, xs, options, i, why[i + 1])
    return as_of_jax(y), (begun, tuple(parts))


def part_of_whole(f, xs, options, i, why):
    """Return the part of a pullback for an integer of Python: that of the same number as a float.

    It is refused where the function needs an integer.
    """

    def part(shared):
        if shared[0] is None:
            return None
        given = (*xs[:i], float(xs[i]), *xs[i + 1 :])
        try:
            back = Numpy(f).record(*given, **options)[1]
        except Exception as error:
            raise NotImplementedError(why) from error
        return back(shared[0], f, *given, at=i + 1, held={})[i + 1]

    return part


def as_of_jax(y):
    """Return the value of a function of JAX, which `Numpy` gives as arrays of NumPy."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf) if is_number(leaf) else leaf, y)


@rule(as_of_jax)
def _(y: object):
    return as_of_jax(y), lambda dy: (dy,)


@rule(jnp.asarray, jnp.array)
def _(x: Numeric | ArrayOfJax):
    return jnp.asarray(array_of(x)), lambda dy: (project(dy, x),)


@rule(np.asarray)
def _(x: ArrayOfJax):
    return np.asarray(x), lambda dy: (project(dy, x),)


@rule(np.array)
def _(x: ArrayOfJax):
    return np.array(x), lambda dy: (project(dy, x),)


@rule(float, ArrayOfJax.item)
def _(x: ArrayOfJax):
    return x.item(), lambda dy: (project(dy, x),)


@rule.method(project)
def _(dx: object, x: ArrayOfJax):
    return project(np.asarray(dx), np.asarray(x))


@rule.method(zero)
def _(x: ArrayOfJax):
    return zero(np.asarray(x))
