"""The products and triangular systems of BLAS that libraries call directly."""

import numpy as np
from scipy.linalg import blas

from rules_scipy.shared.linear.matrices import ArrayLike, adjoint, conjugate, transpose
from rules_scipy.shared.linear.wrappers import (
    columns,
    each_precision,
    like,
    refuse_overwriting,
    triangle,
)
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.blas")


def turned(a, trans):
    """Return `a`, its transpose or its adjoint, for 0, 1 and 2."""
    return a if trans == 0 else transpose(a) if trans == 1 else adjoint(a)


def product_parts(alpha, a, b, dtype, trans_a=0, trans_b=0):
    """Return the parts of the pullback of `alpha * op(a) @ op(b)`."""

    def by_alpha(dy):
        left, right = turned(columns(a, dtype), trans_a), turned(columns(b, dtype), trans_b)
        return project(np.sum(columns(dy, dtype) * conjugate(left @ right)), alpha)

    def by_a(dy):
        da = turned(columns(dy, dtype) @ adjoint(turned(columns(b, dtype), trans_b)), trans_a)
        return project(like((alpha if trans_a == 2 else np.conj(alpha)) * da, a), a)

    def by_b(dy):
        db = turned(adjoint(turned(columns(a, dtype), trans_a)) @ columns(dy, dtype), trans_b)
        return project(like((alpha if trans_b == 2 else np.conj(alpha)) * db, b), b)

    return by_alpha, by_a, by_b


def sum_parts(beta, c, dtype):
    """Return the parts of the pullback of `beta * c`, which is added."""

    def by_beta(dy):
        return project(np.sum(dy * conjugate(np.asarray(c, dtype))), beta)

    def by_c(dy):
        return project(np.conj(beta) * dy, c)

    return by_beta, by_c


def refuse_strides(name, *, offx=0, incx=1, offy=0, incy=1, **others):
    """Refuse vectors that are parts of others."""
    if (offx, incx, offy, incy) != (0, 1, 0, 1):
        raise NotImplementedError(f"{name} has no rule with offsets and increments: give slices")


def declare_product(f, name, dtype, added, turning):
    """Declare `alpha * op(a) @ op(b)`, to which an option may add a constant.

    Arguments:
        added: the name of that option.
        turning: the names of the options that tell which `op` is meant.
    """

    overwrite = f"overwrite_{added}"

    @rule(f)
    def _(alpha: Numeric, a: ArrayLike, b: ArrayLike, **options):
        if not options:
            return f(alpha, a, b), product_parts(alpha, a, b, dtype)
        refuse_strides(name, **options)
        if options.get(overwrite):
            refuse_overwriting(name, dtype, options.get(added))
        turns = [options.get(key, 0) for key in turning]
        return f(alpha, a, b, **options), product_parts(alpha, a, b, dtype, *turns)


def declare_gemm(f, name, dtype):
    """Declare `alpha * op(a) @ op(b) + beta * c`."""
    declare_product(f, name, dtype, "c", ("trans_a", "trans_b"))

    @rule(f)
    def _(
        alpha: Numeric,
        a: ArrayLike,
        b: ArrayLike,
        beta: Numeric,
        c: ArrayLike,
        trans_a=0,
        trans_b=0,
        overwrite_c=0,
    ):
        if overwrite_c:
            refuse_overwriting(name, dtype, c)
        parts = product_parts(alpha, a, b, dtype, trans_a, trans_b)
        y = f(alpha, a, b, beta, c, trans_a, trans_b)
        return y, (*parts, *sum_parts(beta, c, dtype))


def declare_gemv(f, name, dtype):
    """Declare `alpha * op(a) @ x + beta * y`."""
    declare_product(f, name, dtype, "y", ("trans",))

    @rule(f)
    def _(
        alpha: Numeric,
        a: ArrayLike,
        x: ArrayLike,
        beta: Numeric,
        y: ArrayLike,
        offx=0,
        incx=1,
        offy=0,
        incy=1,
        trans=0,
        overwrite_y=0,
    ):
        if offx or offy or incx != 1 or incy != 1:
            refuse_strides(name, offx=offx, incx=incx, offy=offy, incy=incy)
        if overwrite_y:
            refuse_overwriting(name, dtype, y)
        parts = product_parts(alpha, a, x, dtype, trans)
        return f(alpha, a, x, beta, y, trans=trans), (*parts, *sum_parts(beta, y, dtype))


def declare_trsm(f, name, dtype):
    """Declare `alpha * op(a)^-1 @ b`, and `alpha * b @ op(a)^-1`."""

    @rule(f)
    def _(
        alpha: Numeric,
        a: ArrayLike,
        b: ArrayLike,
        side=0,
        lower=0,
        trans_a=0,
        diag=0,
        overwrite_b=0,
    ):
        if overwrite_b:
            refuse_overwriting(name, dtype, b)
        x = f(alpha, a, b, side, lower, trans_a, diag)

        def adjoint_solution(dx):
            if trans_a == 1:
                return conjugate(f(1.0, a, conjugate(dx), side, lower, 0, diag))
            return f(1.0, a, dx, side, lower, 2 - trans_a, diag)

        def by_alpha(z):
            return project(np.sum(columns(z, dtype) * conjugate(columns(b, dtype))), alpha)

        def by_a(z):
            left, right = columns(z, dtype), adjoint(columns(x, dtype))
            da = turned(-right @ left if side else -left @ right, trans_a)
            return project(triangle(da, lower, diag), a)

        def by_b(z):
            return project(like(np.conj(alpha) * z, b), b)

        return x, (adjoint_solution, (by_alpha, by_a, by_b))


for declare, routine in ((declare_gemm, "gemm"), (declare_gemv, "gemv"), (declare_trsm, "trsm")):
    for f, name, dtype in each_precision(blas, routine):
        declare(f, name, dtype)
rule.constant(blas.get_blas_funcs, blas.find_best_blas_type)
