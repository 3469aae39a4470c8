"""A primitive of JAX that gives a tangent as it is, and refuses to be transposed.

JAX transposes tangents for gradients. Those of what is exported by `mode="forward"` come from a
callback, which has no transpose.
"""

from typing import Any

from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from rulescore._errors import Fault

_only_forward: Any = Primitive("only_forward")


def only_forward(dy: Any, name: str) -> Any:
    """Return a tangent of the value of a function. Its transpose raises `TypeError`.

    Arguments:
        dy: the tangent.
        name: the name of the function.
    """
    return _only_forward.bind(dy, name=name)


def _transposed(dy: Any, x: Any, *, name: str) -> Any:
    raise Fault.HOST_CALL.of(
        TypeError,
        f"{name} is exported with `mode='forward'`, by which JAX takes no gradients (`jax.grad`, "
        "`jax.vjp`, `jax.jacrev`, `jax.hessian`): take `jax.jacfwd(f)`, second derivatives by "
        "`jax.jacfwd(jax.jacfwd(f))`, or gradients of `to_jax(f)`",
    )


_only_forward.def_impl(lambda x, *, name: x)
_only_forward.def_abstract_eval(lambda x, *, name: x)
ad.deflinear2(_only_forward, _transposed)
batching.primitive_batchers[_only_forward] = lambda xs, axes, *, name: (
    _only_forward.bind(*xs, name=name),
    axes[0],
)
mlir.register_lowering(_only_forward, lambda context, x, *, name: [x])
