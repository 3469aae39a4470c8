"""The rule for functions of JAX on arrays of NumPy: the pullback is that of `jax.vjp`."""

from collections import OrderedDict

import jax
import jax.numpy as jnp
import numpy as np

import rules_jax
from rulescore import RuleSet, project

rule = RuleSet("rules_jax", may_raise=True)


class Numpy:
    """Call a function of JAX on arrays of NumPy.

    Arguments:
        f: the function of JAX's arrays.
    """

    def __init__(self, f):
        if not callable(f):
            raise TypeError(f"expected a function of arrays of JAX, found {type(f).__name__}")
        self.f = f

    def __call__(self, *xs, **options):
        """Return the value on arrays, as arrays."""
        return values(self.f, self.f(*map(handed, xs), **handed(options)))

    def __repr__(self):
        return f"rules_jax.numpy({self.f!r})"


@rule.method(project)
def _(dx: object, x: Numpy):
    return dx


def is_number(x):
    """Return whether a leaf of the arguments is handed over as an array of JAX."""
    return isinstance(x, np.ndarray | np.generic | float | complex)


def handed(x):
    """Return an argument with its arrays as copies that JAX holds.

    Raises `NotImplementedError` where JAX would change the precision.
    """
    return jax.tree.map(array_of, x)


def array_of(x):
    """Return a leaf of the arguments as it is handed over; numbers of Python stay weakly typed."""
    if not is_number(x):
        return x
    if isinstance(x, np.ndarray) and type(x) is not np.ndarray:
        raise TypeError(f"JAX is given plain arrays, and no {type(x).__name__}")
    if isinstance(x, float | complex) and not isinstance(x, np.generic):
        return jnp.asarray(x)
    if jax.dtypes.canonicalize_dtype(x.dtype) != x.dtype:
        raise NotImplementedError(
            f"JAX would round {x.dtype} to {jax.dtypes.canonicalize_dtype(x.dtype)}: call "
            '`jax.config.update("jax_enable_x64", True)` before, or convert the array'
        )
    return jnp.array(x)


def values(f, y):
    """Return the arrays of a value as arrays of NumPy that can be written into."""
    return jax.tree.map(lambda leaf: number_of(f, leaf), y)


def number_of(f, leaf):
    """Return a leaf of a value as an array or number of NumPy."""
    if isinstance(leaf, bool | int | str):
        return leaf
    if not isinstance(leaf, jax.Array | np.ndarray | np.generic):
        raise TypeError(
            f"{called_name(f)} returns a {type(leaf).__name__}, and a gradient passes through "
            "arrays alone: return arrays, or trees of them"
        )
    return np.array(leaf)[()]


def called_name(f):
    """Return how a function is called in a message."""
    return getattr(f, "__name__", repr(f))


@rule(rules_jax.numpy)
def _(f: object):
    raise NotImplementedError(
        "a gradient passes through what a function of JAX captured: hand over what it captured as "
        "arguments"
    )


@rule.of_instances
def _(call: Numpy, *xs: object, **options):
    f = call.f
    leaves, structure = jax.tree.flatten(xs)
    options = handed(options)
    given = [array_of(x) for x in leaves]
    moving = [i for i, x in enumerate(given) if is_number(leaves[i]) and is_inexact(x)]

    def of_moving(*moved):
        full = list(given)
        for i, x in zip(moving, moved, strict=True):
            full[i] = x
        return f(*jax.tree.unflatten(structure, full), **options)

    y, vjp = jax.vjp(of_moving, *[given[i] for i in moving])
    value = values(f, y)

    def pullback(dy):
        dys = [
            cotangent_of(leaf, d)
            for leaf, d in zip(jax.tree.leaves(y), cotangent_leaves(value, dy), strict=True)
        ]
        found = dict(zip(moving, vjp(jax.tree.unflatten(jax.tree.structure(y), dys)), strict=True))
        dxs = [project(number(found.get(i)), x) for i, x in enumerate(leaves)]
        return dxs

    def part(first, x):
        own, shape = jax.tree.flatten(x)

        def dx(dxs):
            if any(is_whole(leaf) for leaf in own):
                raise NotImplementedError(
                    f"{called_name(f)} is given integers, by which JAX has no gradient: convert "
                    "them to floats, or leave them out by `argnums`"
                )
            return jax.tree.unflatten(shape, dxs[first : first + len(own)])

        return dx

    parts, first = [], 0
    for x in xs:
        parts.append(part(first, x))
        first += len(jax.tree.leaves(x))
    return value, (pullback, (lambda dxs: None, *parts))


def is_inexact(x):
    """Return whether an array is of floating-point or complex numbers."""
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


def is_whole(x):
    """Return whether a leaf of the arguments is of integers."""
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "iu"
    return isinstance(x, int) and not isinstance(x, bool)


def cotangent_of(y, dy):
    """Return the cotangent of a leaf of a value as JAX has it: conjugate, and of its dtype."""
    if not hasattr(y, "dtype") or not is_inexact(y):
        return np.zeros(np.shape(y), jax.dtypes.float0)
    if dy is None:
        return jnp.zeros_like(y)
    return jnp.reshape(jnp.conj(jnp.array(dy)).astype(y.dtype), y.shape)


def number(dx):
    """Return a cotangent of JAX as one of NumPy's."""
    return None if dx is None else np.array(jnp.conj(dx))


def cotangent_leaves(y, dy):
    """Return the cotangents of the leaves of a value in JAX's order, `None` where there is none."""
    if y is None:
        return []
    if isinstance(y, dict):
        given = {} if dy is None else dy
        names = y if isinstance(y, OrderedDict) else sorted(y)
        return [d for name in names for d in cotangent_leaves(y[name], given.get(name))]
    if isinstance(y, list | tuple):
        given = [None] * len(y) if dy is None else dy
        pairs = zip(y, given, strict=True)
        return [d for part, dpart in pairs for d in cotangent_leaves(part, dpart)]
    return [dy]


rule.without_rule(
    "an array of JAX carries no gradient of NumPy's: call `rules_jax.numpy(f)` on arrays",
    *("jax.numpy.asarray", "jax.numpy.array", "jax.device_put"),
)
