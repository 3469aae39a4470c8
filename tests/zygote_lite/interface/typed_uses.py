"""Uses of the interface, for a type checker: arguments and values keep their types."""

from typing import Any, assert_type

from rulescore import custom_rule, non_differentiable, scalar_rule, stop_gradient
from zygote_lite import (
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jit,
    jvp,
    value_and_grad,
    vmap,
)


def f(x: float, n: int = 2, *, scale: float = 1.0) -> float:
    return scale * x**n


@scalar_rule(lambda x: 3 * x**2)
def cube(x: float) -> float:
    return x**3


@non_differentiable
def rounded(x: float) -> int:
    return round(x)


@custom_rule
def halved(x: float) -> tuple[float, Any]:
    return x / 2, lambda dy: (dy / 2,)


@grad
def slope(x: float) -> float:
    return x**2


assert_type(f(1.0, 2, scale=2.0), float)
assert_type(value_and_grad(f)(1.0, 2, scale=2.0), tuple[float, Any])
assert_type(value_and_grad(f, argnums=("x", 1), has_aux=True)(1.0, 2), tuple[float, Any])
assert_type(jit(f)(1.0), float)
assert_type(checkpoint(f)(1.0, scale=2.0), float)
assert_type(jvp(f, (1.0,), (2.0,)), tuple[Any, Any])
assert_type(jvp(f, (1.0,), (2.0,), has_aux=True), tuple[Any, ...])
assert_type(vmap(f)([1.0]), Any)
assert_type(cube(1.0), float)
assert_type(rounded(1.0), int)
assert_type(halved(1.0), float)
assert_type(stop_gradient(1.0), float)
grad(f)("text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
grad(f)(1.0, other=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
jacobian(f)(n="text", x=1.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
jacfwd(f)(n="text", x=1.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
hessian(f)()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
slope("text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
