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
gradient, and the transformed code must agree with it.

Public modules: `optimizers`; `testing`, which says which of the two ways answers; `interop`, for
other hosts; `distributed`, for several machines; `errors`; and `value`, a scalar tape that has the
idea in one file. `help` lists all modules of a package: the others are private.
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
