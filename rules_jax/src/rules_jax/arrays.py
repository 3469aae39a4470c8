"""Rules for compiled functions of JAX that NumPy code calls by themselves.

`jax.jit(f)(x)` takes arrays of NumPy, and gives arrays of JAX, which `np.asarray` and `float` make
NumPy's again. Most functions of `jax.numpy` are compiled so. The cotangent of an array of JAX is
an array of NumPy.
"""

import operator
from types import FunctionType

import jax
import jax.numpy as jnp
import numpy as np

from rules_jax.calls import Numpy, array_of, record
from rulescore import Numeric, RuleSet, project, zero
from rulescore.interop import foreign
from rulescore.interop.foreign import begun, is_number, is_of_form, part_of_whole, parts_of

rule = RuleSet("rules_jax")
Compiled = type(jax.jit(lambda: None))
ArrayOfJax = type(jnp.zeros(()))


def record_compiled(f, /, *xs, **options):
    """Return what `record` does; this function has a rule, so that no AD looks into `Numpy`."""
    return record(Numpy(f), *xs, **options)


foreign.declare_record(rule, Compiled, record_compiled, part_of_whole)


@rule.of_instances
def _(f: Compiled, /, *xs: object, **options):
    y, back, why = record_compiled(f, *xs, **options)
    parts = parts_of(record_compiled, part_of_whole, f, xs, options, back, why)
    return as_of_jax(y), (begun, parts)


class Method:
    """A method or an attribute of JAX's arrays by its name, as what JAX traces has it, too."""

    def __init__(self, name, is_attribute):
        self.__name__, self.is_attribute = name, is_attribute

    def __call__(self, x, *xs, **options):
        """Call the method, or read the attribute."""
        found = getattr(x, self.__name__)
        return found if self.is_attribute else found(*xs, **options)


foreign.declare_record(rule, Method, record_compiled, part_of_whole)


def declare_method(f, method):
    """Declare the rule for what reads arrays of JAX and is not compiled, by a function of JAX."""

    @rule(f)
    def _(x: ArrayOfJax, *xs: object, **options):
        given = (x, *xs)
        y, back, why = record_compiled(method, *given, **options)
        kinds = map(type, (method, *given))
        # shapes, axes and subscripts have no gradient
        why = tuple(["" if kind is tuple else w for kind, w in zip(kinds, why, strict=True)])
        parts = parts_of(record_compiled, part_of_whole, method, given, options, back, why)
        return as_of_jax(y), (begun, parts[1:])


declare_method(operator.neg, jnp.negative)
declare_method(abs, jnp.abs)
METHODS = (
    "T", "__getitem__", "__pow__", "__rpow__", "astype", "clip", "conj", "cumprod",
    "cumsum", "diagonal", "dot", "imag", "mT", "max", "mean", "min", "prod", "ravel", "real",
    "repeat", "reshape", "sort", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose",
    "var",
)  # fmt: skip
for name in METHODS:
    found = vars(ArrayOfJax).get(name)
    if isinstance(found, FunctionType | property):
        is_attribute = isinstance(found, property)
        declare_method(found.fget if is_attribute else found, Method(name, is_attribute))


FUNCTIONS = """
    acos acosh asin asinh astype atan atan2 atanh broadcast_arrays concat concatenate
    cumulative_prod cumulative_sum dstack einsum expand_dims flip hstack linalg.cross
    linalg.matrix_transpose linalg.norm linalg.outer linalg.trace linalg.vecdot linalg.vector_norm
    linalg.matrix_norm matrix_transpose max mean min moveaxis permute_dims prod ravel repeat reshape
    roll squeeze stack std sum swapaxes take take_along_axis tensordot tile transpose tril triu
    unstack var vecdot vstack where
"""


def declare_functions():
    """Declare rules for functions of JAX's that are plain Python and call compiled ones."""
    for name in FUNCTIONS.split():
        f = operator.attrgetter(name)(jnp)
        if not isinstance(f, FunctionType):
            continue

        @rule(f)
        def _(*xs: object, f=f, **options):
            y, back, why = record_compiled(f, *xs, **options)
            # shapes, axes and subscripts have no gradient
            flags = [True, *map(is_of_form, xs)]
            why = tuple(["" if form else w for form, w in zip(flags, why, strict=True)])
            parts = parts_of(record_compiled, part_of_whole, f, xs, options, back, why)
            return as_of_jax(y), (begun, parts[1:])


def as_of_jax(y):
    """Return the value of a function of JAX, which `Numpy` gives as arrays of NumPy."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf) if is_number(leaf) else leaf, y)


declare_functions()
foreign.declare_record(rule, FunctionType, record_compiled, part_of_whole)
rule.constant(jnp.ones_like, jnp.zeros_like, jnp.full_like, jnp.empty_like)


@rule(as_of_jax)
def _(y: object):
    return as_of_jax(y), lambda dy: (dy,)


@rule(jnp.asarray, jnp.array)
def _(x: Numeric | ArrayOfJax):
    return jnp.asarray(array_of(x)), lambda dy: (project(dy, x),)


@rule(jax.block_until_ready)
def _(x: ArrayOfJax):
    return jax.block_until_ready(x), lambda dy: (dy,)


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
