"""Automatic differentiation of plain Python and NumPy.

- gradients: `grad`, `value_and_grad`, `gradient`, `pullback`, `vjp`; `stop_gradient`, `checkpoint`
- derivatives: `jacobian`, `jacrev`, `jacfwd`, `hessian`, `hvp`; forward: `jvp`, `linearize`
- compiled, or written out: `jit`, `export_adjoint`
- batches and trees: `vmap`, `tree_map`, `ravel`; `zygote_lite.optimizers`: `sgd`, `adam`
- checks: `check_gradient`
- to look inside: `explain`, `code_adjoint`, `code_jvp`, `code_primal`, `code_lowered`
- errors: `DifferentiationError`, `NoRuleError`, `UnsupportedSyntaxError`, `GradientCheckError`

    >>> from zygote_lite import grad
    >>> grad(lambda x: x**3)(2.0)
    12.0

A gradient is *recorded* on a tape, which takes every construct, or answered by *transformed* code:
Python that is written for the types of the arguments, with the rules inlined. The tape defines the
gradient, and the transformed code must agree with it. Who works on the engine reads its folders in
this order:

- `_interface`: what users call. It asks transformed code first, and records where there is none.
- `_ir`: from a function's source to a small IR, and from the IR back to Python (recording code).
- `_cotangents`: how cotangents are held, by value or by address; the registry of handlers.
- `_activity`: what depends on a differentiated argument, and what a call may change.
- `_tape`: runs recording code, resolves each call in one order, and walks back over its entries.
- `_python`: what Python's constructs and its library mean on a tape.
- `_numpy`: the same for arrays that are written in place.
- `_nested`: gradients of gradients, on a tape of two levels.
- `_specialize`: the source transform: typed IR, reverse pass, optimization, printed code.
- `_batch`: functions of one entry that `vmap` runs once for a whole batch.

`value` is a scalar tape on the same rules: read it to see the idea in one file. `testing` has
switches that say which of the two ways answers, and `modes` keeps them; `errors` has the errors;
`optimizers` trains models; `demo` is the command `zygote-lite moons` and its network.
"""

from rulescore import stop_gradient
from zygote_lite._interface.batches import vmap
from zygote_lite._interface.checking import check_gradient
from zygote_lite._interface.checkpoints import checkpoint
from zygote_lite._interface.export import export_adjoint
from zygote_lite._interface.gradients import (
    grad,
    gradient,
    jit,
    pullback,
    value_and_grad,
)
from zygote_lite._interface.jacobians import hessian, hvp, jacobian, jacrev
from zygote_lite._interface.linearizing import linearize
from zygote_lite._interface.show import code_adjoint, code_jvp, code_lowered, code_primal, explain
from zygote_lite._interface.tangents import jacfwd, jvp
from zygote_lite._interface.trees import ravel, tree_map
from zygote_lite._interface.vjp import vjp
from zygote_lite._tape.run import Pullback
from zygote_lite.errors import (
    DifferentiationError,
    GradientCheckError,
    NoRuleError,
    UnsupportedSyntaxError,
)

__all__ = [
    # gradients
    "pullback",
    "vjp",
    "jvp",
    "linearize",
    "gradient",
    "grad",
    "value_and_grad",
    "jacobian",
    "jacrev",
    "jacfwd",
    "hessian",
    "hvp",
    "Pullback",
    "stop_gradient",
    "checkpoint",
    # compiled, or written out
    "jit",
    "export_adjoint",
    # batches
    "vmap",
    # trees
    "tree_map",
    "ravel",
    # checking
    "check_gradient",
    # looking inside
    "code_lowered",
    "code_primal",
    "code_adjoint",
    "code_jvp",
    "explain",
    # errors
    "DifferentiationError",
    "NoRuleError",
    "UnsupportedSyntaxError",
    "GradientCheckError",
]
__version__ = "0.1.0"
