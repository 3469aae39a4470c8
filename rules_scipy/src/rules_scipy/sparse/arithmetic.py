"""Sums, products entry by entry, quotients, powers, and functions of each number."""

import operator

import numpy as np
from scipy import sparse as sp

from rules_scipy.sparse.rearranging import methods
from rules_scipy.sparse.values import (
    Sparse,
    filled,
    moved,
    refuse_matrix,
    sampled,
    stored,
    summed,
    unshared,
    whole,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.arithmetic")
Number = int | float | complex
Dense = np.ndarray


# -- sums ----------------------------------------------------------------------------------------


def sum_of(f, a, b, sign):
    """Return the value and the pullback of a sum or difference of two sparse arrays."""

    def by_a(dy):
        return project(moved(dy, a), a)

    def by_b(dy):
        return project(moved(sign * dy, b), b)

    return whole(f, a, b, ones=operator.add), (by_a, by_b)


@rule(operator.add)
def _(a: Sparse, b: Sparse):
    return sum_of(operator.add, a, b, 1)


@rule(operator.sub)
def _(a: Sparse, b: Sparse):
    return sum_of(operator.sub, a, b, -1)


def sum_with_dense(f, a, b, signs, is_first):
    """Return the value and the pullback of a sum of a sparse array and a dense one."""
    y = refuse_matrix(f(a, b) if is_first else f(b, a))

    def by_a(dy):
        return project(filled(a, signs[0] * sampled(np.broadcast_to(dy, a.shape), a)), a)

    def by_b(dy):
        return project(signs[1] * dy, b)

    return y, (by_a, by_b) if is_first else (by_b, by_a)


@rule(operator.add)
def _(a: Sparse, b: Dense):
    return sum_with_dense(operator.add, a, b, (1, 1), True)


@rule(operator.add)
def _(b: Dense, a: Sparse):
    return sum_with_dense(operator.add, a, b, (1, 1), False)


@rule(operator.sub)
def _(a: Sparse, b: Dense):
    return sum_with_dense(operator.sub, a, b, (1, -1), True)


@rule(operator.sub)
def _(b: Dense, a: Sparse):
    return sum_with_dense(operator.sub, a, b, (-1, 1), False)


@rule(operator.add)
def _(zero: int, a: Sparse):
    """Begin a sum with zero, as `sum` does: SciPy refuses another number."""
    return zero + a, (None, lambda dy: dy)


@rule(operator.add)
def _(a: Sparse, zero: int):
    return a + zero, (lambda dy: dy, None)


# -- products ------------------------------------------------------------------------------------


def times_number(f, a, c, factor, by_factor, is_first=True):
    """Return the value and the pullback of a sparse array times what a number says.

    Arguments:
        f: SciPy's function.
        a, c: the array and the number.
        factor: by what the numbers of the array are multiplied.
        by_factor: the derivative of that by the number.
        is_first: whether the array is the first operand.
    """
    y = f(a, c) if is_first else f(c, a)

    def by_a(dy):
        return project(filled(a, stored(dy) * np.conj(factor)), a)

    def by_c(dy):
        return project(np.sum(stored(dy) * np.conj(stored(a) * by_factor)), c)

    return y, (by_a, by_c) if is_first else (by_c, by_a)


def times_dense(f, a, b):
    """Return the value and the pullback of a product, entry by entry, with a dense array."""
    wide = np.broadcast_to(b, a.shape)
    if np.broadcast_shapes(np.shape(b), a.shape) != a.shape:
        raise NotImplementedError("a sparse array has no rule for being broadcast: repeat it")
    y = whole(f, a, b)

    def by_a(dy):
        return project(filled(a, stored(moved(dy, a)) * np.conj(sampled(wide, a))), a)

    def by_b(dy):
        found = np.conj(stored(a)) * stored(moved(dy, a))
        return project(filled(a, found).toarray(), b)

    return y, (by_a, by_b)


def times_sparse(f, a, b):
    """Return the value and the pullback of a product, entry by entry, of two sparse arrays."""
    if a.shape != b.shape:
        raise NotImplementedError("a sparse array has no rule for being broadcast: repeat it")
    a_once, b_once = summed(a), summed(b)

    def by_a(dy):
        found = stored(moved(dy, a)) * np.conj(stored(moved(b_once, a)))
        return project(filled(a, found), a)

    def by_b(dy):
        found = stored(moved(dy, b)) * np.conj(stored(moved(a_once, b)))
        return project(filled(b, found), b)

    return whole(f, a, b), (by_a, by_b)


for multiply in methods("multiply"):

    @rule(multiply)
    def _(a: Sparse, c: Number, *, _f=multiply):
        return times_number(_f, a, c, c, 1)

    @rule(multiply)
    def _(a: Sparse, b: Dense, *, _f=multiply):
        return times_number(_f, a, b, b, 1) if b.ndim == 0 else times_dense(_f, a, b)

    @rule(multiply)
    def _(a: Sparse, b: Sparse, *, _f=multiply):
        return times_sparse(_f, a, b)


@rule(operator.mul)
def _(a: Sparse, c: Number):
    return times_number(operator.mul, a, c, c, 1)


@rule(operator.mul)
def _(c: Number, a: Sparse):
    return times_number(operator.mul, a, c, c, 1, False)


@rule(operator.mul)
def _(a: sp.sparray, b: Dense):
    if b.ndim == 0:
        return times_number(operator.mul, a, b, b, 1)
    return times_dense(operator.mul, a, b)


@rule(operator.mul)
def _(b: Dense, a: sp.sparray):
    if b.ndim == 0:
        return times_number(operator.mul, a, b, b, 1, False)
    y, (by_a, by_b) = times_dense(lambda a, b: b * a, a, b)
    return y, (by_b, by_a)


@rule(operator.mul)
def _(a: sp.sparray, b: sp.sparray):
    return times_sparse(operator.mul, a, b)


@rule(operator.truediv)
def _(a: Sparse, c: Number):
    return times_number(operator.truediv, a, c, 1 / c, -1 / c**2)


@rule(operator.truediv)
def _(a: Sparse, b: Dense):
    if b.ndim == 0:
        return times_number(operator.truediv, a, b, 1 / b, -1 / b**2)
    y, (by_a, by_inverse) = times_dense(operator.truediv, a, 1 / b)
    y = whole(operator.truediv, a, b)
    return y, (by_a, lambda dy: project(by_inverse(dy) * np.conj(-1 / b**2), b))


@rule(operator.neg)
def _(a: Sparse):
    return -a, lambda dy: (-dy,)


# -- each number ---------------------------------------------------------------------------------

SLOPES = {
    "sin": np.cos,
    "tan": lambda x: 1 + np.tan(x) ** 2,
    "arcsin": lambda x: 1 / np.sqrt(1 - x**2),
    "arctan": lambda x: 1 / (1 + x**2),
    "sinh": np.cosh,
    "tanh": lambda x: 1 - np.tanh(x) ** 2,
    "arcsinh": lambda x: 1 / np.sqrt(x**2 + 1),
    "arctanh": lambda x: 1 / (1 - x**2),
    "expm1": np.exp,
    "log1p": lambda x: 1 / (1 + x),
    "sqrt": lambda x: 0.5 / np.sqrt(x),
    "deg2rad": lambda x: np.full_like(x, np.pi / 180),
    "rad2deg": lambda x: np.full_like(x, 180 / np.pi),
}


def of_each(f, a, slope):
    """Return the value and the pullback of a function of each number, which leaves zeros zero."""
    once = summed(a)

    def pullback(dy):
        found = stored(dy) * np.conj(slope(stored(once)))
        return (project(filled(once, found), a),)

    return f(once), pullback


for name, slope in SLOPES.items():
    for method in (*methods(name), getattr(np, name)):

        @rule(method)
        def _(a: Sparse, *, _f=method, _slope=slope):
            return of_each(_f, a, _slope)


for power in methods("power"):

    @rule(power)
    def _(a: Sparse, n: Number, dtype=None, *, _f=power):
        if dtype is not None:
            raise NotImplementedError(
                "power of a sparse array has no rule for dtype: convert the array by `astype`"
            )
        return power_of(lambda b: _f(b, n), a, n)


@rule(operator.pow)
def _(a: sp.sparray, n: Number):
    return power_of(lambda b: b**n, a, n)


def power_of(f, a, n):
    """Return the value and the pullback of a power of each number, by the numbers alone."""
    y, pullback = of_each(f, a, lambda x: n * x ** (n - 1))

    def by_n(dy):
        x = stored(summed(a))
        logs = np.log(np.where(x == 0, 1.0, x))
        return project(np.sum(stored(dy) * np.conj(np.where(x == 0, 0.0, x**n * logs))), n)

    return y, (lambda dy: pullback(dy)[0], by_n)


@rule(abs, np.absolute)
def _(a: Sparse):
    return of_each(abs, a, lambda x: np.conj(np.sign(x)) if np.iscomplexobj(x) else np.sign(x))


for conjugate in methods("conj") | methods("conjugate"):

    @rule(conjugate)
    def _(a: Sparse, copy=True, *, _f=conjugate):
        return _f(a, copy), lambda dy: (project(filled(a, np.conj(stored(dy))), a),)


@rule(sp.csr_array.real)
def _(a: Sparse):
    return a.real, lambda dy: (project(filled(a, stored(dy)), a),)


@rule(sp.csr_array.imag)
def _(a: Sparse):
    return a.imag, lambda dy: (project(filled(a, 1j * stored(dy)), a),)


for astype in methods("astype"):

    @rule(astype)
    def _(a: Sparse, dtype: object, casting="unsafe", copy=True, *, _f=astype):
        if a.dtype == np.dtype(dtype):
            y, once = _f(a, dtype, casting, copy), a
        else:  # SciPy sums up what it converts
            once = summed(a)
            y = _f(once, dtype, casting, copy)
        if y.dtype.kind not in "fc":
            return y, None
        return y, lambda dy: (project(filled(once, stored(dy)), a), None)


# -- steps: SciPy would sum up the array in place, and with it what is differentiated ------------

for step in [f for name in ("ceil", "floor", "rint", "sign", "trunc") for f in methods(name)]:

    @rule(step)
    def _(a: Sparse, *, _f=step):
        return _f(unshared(a)), None


for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):

    @rule(compare)
    def _(a: Sparse, b: Sparse | Dense | Number, *, _f=compare):
        return _f(unshared(a), unshared(b)), None

    @rule(compare)
    def _(b: Dense | Number, a: Sparse, *, _f=compare):
        return _f(b, unshared(a)), None
