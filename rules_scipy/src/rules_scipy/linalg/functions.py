"""Functions of matrices, such as the exponential and the square root.

The adjoint of the derivative of `f` at `A` is the derivative of `conj(f(conj(z)))`, which but on a
branch cut is `f`, at `A^H`. It is a block of `f` of
twice the size (Higham 2008, 3.2): `f([[A, E], [0, A]])` has the derivative along `E` above its
diagonal.
"""

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.batches import of_stacks
from rules_scipy.shared.linear.matrices import (
    ArrayLike,
    adjoint,
    conjugate,
    refuse_singular,
    transpose,
)
from rules_scipy.shared.linear.stacks import stacked
from rulescore import RuleSet, project, stop_gradient

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.functions")


def blocks(a, e):
    """Return `[[a, e], [0, a]]`."""
    upper = np.concatenate([a, e], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


def largest(x):
    """Return the largest size of an entry of each matrix, or 1 where all are 0."""
    size = np.max(np.abs(stop_gradient(x)), axis=(-2, -1), keepdims=True, initial=0.0)
    return np.where(size == 0, 1.0, size).astype(size.dtype)


def scale_of(e, a):
    """Return how much larger `e` is than `a`."""
    return stop_gradient(largest(e) / largest(a))


def along(f, a, e):
    """Return the derivative of `f` at `a` along `e`.

    It is linear in `e`, which is brought to the size of `a`: a large one costs `expm` its accuracy.
    """
    n, scale = a.shape[-1], scale_of(e, a)
    return scale * f(blocks(a, e / scale))[..., :n, n:]


def turn_of(a):
    """Return the angle that turns the eigenvalues of real matrices off the branch cut, or 0."""
    if np.any(np.imag(a)):
        values = np.linalg.eigvals(a)
        near = 100 * np.finfo(values.dtype).eps * np.max(np.abs(values), initial=0.0)
        if np.any((np.abs(np.imag(values)) < near) & (np.real(values) < -near)):
            raise sl.LinAlgError(
                "a root, power or logarithm of a complex matrix with a negative eigenvalue has no "
                "gradient: rounding says which branch it is on"
            )
        return np.zeros((1, 1))
    values = np.linalg.eigvals(np.real(a))
    is_on_cut = (np.imag(values) == 0) & (np.real(values) < 0)
    gap = np.pi + np.min(np.where(is_on_cut, 0.0, np.angle(values)), axis=-1, initial=0.0)
    return (np.any(is_on_cut, axis=-1) * gap / 2)[..., None, None]


rule.constant(turn_of)


def adjoint_along(f, a, dy, power=None):
    """Return the adjoint of the derivative of `f` at `a`, applied to `dy`.

    Conjugated twice, which matters on a branch cut: of matrices with negative eigenvalues. There,
    rounding takes the eigenvalues of blocks to both sides. So a power (of the logarithm, 0) is
    that of the matrix turned, turned back.
    """
    a, e = transpose(np.asarray(a)), conjugate(np.asarray(dy))
    angle = np.zeros(1) if power is None else turn_of(a)
    if not np.any(angle):
        return conjugate(along(f, a, e))
    turn = np.exp(-1j * angle)
    return conjugate(np.exp(1j * angle * power) * along(f, turn * a, turn * e))


def undrawn(f):
    """Return a function that draws the same numbers each time: estimates of norms draw.

    It leaves the random state of NumPy alone.
    """

    def call(*xs):
        state = np.random.get_state()
        np.random.seed(0)
        try:
            return f(*xs)
        finally:
            np.random.set_state(state)

    return call


def declare(f):
    """Declare a function of a matrix that is a power series."""
    inner = undrawn(f) if f is sl.logm else f
    power = {sl.logm: 0.0, sl.sqrtm: 0.5}.get(f)

    @rule(f)
    def _(A: ArrayLike):
        def pullback(dy):
            if power is not None:
                refuse_singular(A, f.__name__)
            return (project(adjoint_along(inner, A, dy, power), A),)

        return f(A), pullback


rule.constant(refuse_singular)
for f in (sl.expm, sl.logm, sl.sqrtm, sl.cosm, sl.sinm, sl.tanm, sl.coshm, sl.sinhm, sl.tanhm):
    declare(f)


@rule(sl.signm)
def _(A: ArrayLike):
    y = sl.signm(A)

    def pullback(dy):
        near = np.sqrt(np.finfo(y.dtype).eps)
        if not np.allclose(y @ y, np.eye(np.shape(y)[-1]), rtol=near, atol=near):
            raise sl.LinAlgError(
                "the sign of a matrix with an eigenvalue on the imaginary axis has no gradient"
            )
        # S A = A S and S^2 = 1 with A = S N: a Sylvester equation with N
        n = y @ np.asarray(A)
        inner = np.asarray(dy) - adjoint(y) @ np.asarray(dy) @ adjoint(y)
        return (project(sl.solve_sylvester(adjoint(n), adjoint(n), inner), A),)

    return y, pullback


def refuse_imaginary(slope):
    """Raise `LinAlgError` where real powers are next to complex ones: of negative eigenvalues."""
    if np.any(np.abs(np.imag(slope)) > 1e-6 * np.max(np.abs(slope), initial=0.0)):
        raise sl.LinAlgError(
            "a whole power of a matrix with a negative eigenvalue has no gradient by the power: "
            "the powers beside it are complex"
        )


rule.constant(refuse_imaginary)


@rule(sl.fractional_matrix_power)
def _(A: ArrayLike, t: float):
    y = sl.fractional_matrix_power(A, t)

    def by_matrix(dy):
        is_broken = t != int(t)
        if is_broken:
            refuse_singular(A, "a broken power")

        def power(a):
            return undrawn(sl.fractional_matrix_power)(a, t)

        return project(adjoint_along(power, A, dy, t if is_broken else None), A)

    def by_power(dy):
        refuse_singular(A, "a power")
        slope = undrawn(sl.logm)(A) @ y
        if np.isrealobj(y):
            refuse_imaginary(slope)
        return project(np.sum(np.conj(slope) * dy), t)

    return y, (by_matrix, by_power)


@rule(sl.expm_frechet)
@stacked(sl.expm_frechet, 2, 2)
def _(A: ArrayLike, E: ArrayLike, method=None, compute_expm=True, check_finite=True):
    y = sl.expm_frechet(A, E, method, compute_expm, check_finite)

    def shared(dy):
        a, e = np.asarray(A), np.asarray(E)
        n, scale = a.shape[-1], scale_of(e, a)
        dvalue, dalong = dy if compute_expm else (None, dy)
        zero = np.zeros_like(a)
        corner = blocks(zero, zero if dalong is None else scale * dalong)
        if dvalue is not None:
            corner[:n, :n] = dvalue
        found = along(sl.expm, adjoint(blocks(a, e / scale)), corner)
        return found[:n, :n] + found[n:, n:], found[:n, n:] / scale

    def by_matrix(found):
        return project(found[0], A)

    def by_direction(found):
        return project(found[1], E)

    return y, (shared, (by_matrix, by_direction))


# -- of batches

for _f in (sl.expm, sl.sqrtm, sl.cosm, sl.sinm, sl.tanm, sl.coshm, sl.sinhm, sl.tanhm):
    rule.batched(_f)(of_stacks(_f))
rule.batched(sl.logm)(of_stacks(undrawn(sl.logm)))
