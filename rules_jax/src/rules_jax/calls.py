"""The rule for functions of JAX on arrays of NumPy: the pullback is that of `jax.vjp`."""

from collections import OrderedDict

import jax
import jax.numpy as jnp
import numpy as np

import rules_jax
from rules_jax.trees import has_objects, leaves_along_objects, with_tangents
from rulescore import RuleSet, project
from rulescore.faults import an
from rulescore.interop import foreign
from rulescore.interop.foreign import (
    Foreign,
    Memory,
    is_number,
    leaves_along,
    part_of_whole,
    unseen,
)

rule = RuleSet("rules_jax")


class Numpy(Foreign):
    """Call a function of JAX on arrays of NumPy.

    Arguments:
        f: the function of JAX's arrays.
        copy: as for `rules_jax.numpy`.
    """

    def __init__(self, f, copy=True):
        super().__init__(f, "a function of arrays of JAX")
        self.copy = copy

    def run(self, *xs, **options):
        """Return the value on arrays, as arrays."""
        given = [handed(x, self.copy) for x in xs]
        return values(self, self.f(*given, **handed(options)), xs)

    def record(self, /, *xs, **options):
        """Return the value, its pullback, and why arguments have no cotangent."""
        options = handed(options)
        y, pull = vjp(self.f, xs, options, self.copy)
        why = foreign.reasons(self, "JAX", xs, plain_leaves, instead=_INSTEAD)
        return values(self, y, xs), Backward(self.f, options, pull), why

    def __repr__(self):
        return f"rules_jax.numpy({self.f!r})"


class Backward(foreign.Backward, Numpy):
    """The pullback of a call, which is a function of JAX, too.

    Arguments:
        f, options: the function of JAX, and its options.
        pull: the function of the cotangent that `vjp` gives.
    """

    def __init__(self, f, options, pull):
        def pulled(dy, _, *xs):
            return None, *vjp(f, xs, options)[1](dy)

        super().__init__(pulled)
        self.pull = pull

    @property
    def name(self):
        """The name in messages."""
        return "a pullback of JAX"

    def run(self, dy, call, *xs, at, held):
        """Return the cotangents, which JAX gives all at once."""
        if not held:
            dxs = jax.tree.map(as_cotangent, xs, values(self, self.pull(dy)))
            held.update(enumerate((None, *map(with_tangents, dxs))))
        return tuple(held.values())

    def record(self, dy, call, *xs, at, held):
        """Return them, their pullback, and why: the pullback of the call has refused integers."""
        value, back, why = super().record(dy, call, *xs)
        refused = [unseen(self, "JAX", x, plain_leaves, _INSTEAD) for x in (dy, *xs)]
        refused[1:1] = [None]
        why = [u or (words and "") for u, words in zip(refused, why[1:], strict=True)]
        return tuple(map(with_tangents, value)), back, ("", *why)


def vjp(f, xs, options, copy=True):
    """Return the value of a function of JAX, and the function from its cotangent to those of `xs`.

    These are conjugate to those of `jax.vjp`, as in the rules; `None` stands for integers.
    """
    leaves, structure = jax.tree.flatten(xs)
    given = [array_of(x, copy) for x in leaves]
    moving = [i for i, x in enumerate(given) if is_inexact(x)]

    def of_moving(*moved):
        full = list(given)
        for i, x in zip(moving, moved, strict=True):
            full[i] = x
        return f(*jax.tree.unflatten(structure, full), **options)

    y, back = jax.vjp(of_moving, *[given[i] for i in moving])
    if not copy:
        jax.block_until_ready(back)  # what it kept may be computed from memory of NumPy's
    ys, of_value = jax.tree.flatten(y)

    def pull(dy):
        if has_objects(y):
            given = leaves_along_objects(y, dy)
        else:
            given = leaves_along(y, dy, keys, skips_none=True)
        dys = map(cotangent_of, ys, given)
        found = [None] * len(leaves)
        for i, dx in zip(moving, back(jax.tree.unflatten(of_value, dys)), strict=True):
            found[i] = jnp.conj(dx)
        return jax.tree.unflatten(structure, found)

    return y, pull


def plain_leaves(x):
    """Return the leaves of an argument into which JAX would have to look.

    Its arrays have gradients, and a `Numpy` has none.
    """
    return [leaf for leaf in jax.tree.leaves(x) if not isinstance(leaf, jax.Array | Numpy)]


_INSTEAD = (
    "register its class by `jax.tree_util.register_dataclass`, or give the arrays that it holds as "
    "arguments"
)


def keys(y):
    """Return the keys of a dict in JAX's order."""
    return y if isinstance(y, OrderedDict) else sorted(y)


def handed(x, copy=True):
    """Return an argument with its arrays as JAX's: as copies, or over the same memory if they can.

    Raises `NotImplementedError` where JAX would change the precision.
    """
    return jax.tree.map(lambda leaf: array_of(leaf, copy), x)


def array_of(x, copy=True):
    """Return a leaf of the arguments as it is handed over; numbers of Python stay weakly typed."""
    if not is_number(x):
        return x
    if isinstance(x, np.ndarray) and type(x) is not np.ndarray:
        raise TypeError(
            f"JAX is given plain arrays, and no {type(x).__name__}: pass `np.asarray` of it"
        )
    if isinstance(x, float | complex) and not isinstance(x, np.generic):
        return jnp.asarray(x)
    if jax.dtypes.canonicalize_dtype(x.dtype) != x.dtype:
        rounded = jax.dtypes.canonicalize_dtype(x.dtype)
        raise NotImplementedError(
            f"JAX would round {x.dtype} to {rounded}: call "
            '`jax.config.update("jax_enable_x64", True)` before, or convert the array by '
            f"`astype(np.{rounded})`"
        )
    return jnp.array(x) if copy or not is_shareable(x) else shared(x)


def is_shareable(x):
    """Return whether JAX can read the memory of an array, as it stands there."""
    return (
        isinstance(x, np.ndarray)
        and x.size > 0
        and x.flags.c_contiguous
        and x.ctypes.data % _ALIGNMENT == 0
        and x.dtype.isnative
        and x.dtype.kind in "fciu"
        and jax.default_backend() == "cpu"
    )


_ALIGNMENT = 64  # bytes; JAX copies other memory


def shared(x):
    """Return an array of JAX over the memory of one of NumPy, which JAX does not write into."""
    memory = Memory(x)
    # JAX refuses memory that is read-only, as that of its own arrays is in NumPy
    memory.__array_interface__ = {**x.__array_interface__, "data": (x.ctypes.data, False)}
    return jnp.from_dlpack(np.asarray(memory))


def values(call, y, xs=()):
    """Return the arrays of a value as arrays of NumPy, or as read-only views of their memory.

    What is in the memory of the arguments `xs` is copied in any case.
    """
    given = [] if call.copy else [x for x in jax.tree.leaves(xs) if isinstance(x, np.ndarray)]
    return jax.tree.map(lambda leaf: number_of(call, leaf, given), y)


def number_of(call, leaf, given):
    """Return a leaf of a value as an array or number of NumPy."""
    if isinstance(leaf, bool | int | str):
        return leaf
    if not isinstance(leaf, jax.Array | np.ndarray | np.generic):
        raise TypeError(
            f"{call.name} returns {an(type(leaf).__name__)}, and a gradient passes through "
            "arrays alone: return arrays, or trees of them"
        )
    array = np.array(leaf, copy=True if call.copy or not isinstance(leaf, jax.Array) else None)
    if any(np.may_share_memory(array, x) for x in given):
        array = array.copy()
    return array if array.ndim else array[()]


def is_inexact(x):
    """Return whether a leaf is an array of JAX of floating-point or complex numbers."""
    return isinstance(x, jax.Array) and bool(jnp.issubdtype(x.dtype, jnp.inexact))


def cotangent_of(y, dy):
    """Return the cotangent of a leaf of a value as JAX has it: conjugate, and of its dtype."""
    if not hasattr(y, "dtype") or not is_inexact(y):
        return np.zeros(np.shape(y), jax.dtypes.float0)
    if dy is None:
        return jnp.zeros_like(y)
    return jnp.reshape(jnp.conj(jnp.array(dy)).astype(y.dtype), y.shape)


def as_cotangent(x, dx):
    """Return the cotangent of a leaf of the arguments, of its kind."""
    return project(dx, x)


def record(f, /, *xs, **options):
    """Return what the method does; this function has a rule."""
    return f.recorded(*xs, **options)


@rule(rules_jax.numpy)
def _(f: object):
    raise NotImplementedError(
        "a gradient passes through what a function of JAX captured: hand over what it captured as "
        "arguments"
    )


foreign.declare(rule, Numpy, record, part_of_whole)
rule.without_rule(
    "it makes an array of JAX, which carries no gradient here: write what computes with it as a"
    " function `f` of such arrays, and call `rules_jax.numpy(f)` on the array",
    *("jax.numpy.asarray", "jax.numpy.array", "jax.device_put"),
)
