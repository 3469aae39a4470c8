"""Automatic differentiation of plain Python and NumPy by source transformation.

The stages, each a module, in the order in which data flows: `_source`, `_lower`, `_instrument`,
then `_primal` and `_reverse` for straight code or `_record` for all other, `_emit`, `_transform`;
the IR between them is `_ir`. `_show` shows each. `_optimize` writes code for the types of arguments
that were seen, and has it compiled for `_jitted` functions; `_export` writes it out as a module.

What the emitted code runs on: `_kinds` tells how a value is identified, `_store` has the
cotangents of what has an address, `_state` what a run knows, `_activity` what depends on a
differentiated argument. `_pull` resolves a call of straight code, or hands it to `_tape`, which
records it in `_entries` (generators: `_generators`); `_arguments` places what a call is given,
`_refusal` words what no gradient can pass. The engine's own pullbacks, in the forms of
`_pullbacks` and listed in `_tables`, are in `_structural`, `_attributes`, `_lists`, `_containers`,
`_composite`, `_construct`, `_parts` and `_writes`; `_iteration` and `_itertools` have the source of
what is written in C. `_api` is what users call, `_boundary` checks what goes in and comes out, and
`_nested` differentiates gradients again.
"""

from zygote_lite._api import (
    Pullback,
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jit,
    pullback,
    value_and_grad,
)
from zygote_lite._errors import DifferentiationError, NoRuleError, UnsupportedSyntaxError
from zygote_lite._export import export_adjoint
from zygote_lite._show import code_adjoint, code_lowered, code_primal, explain

__all__ = [  # noqa: RUF022 - in the order of the documentation
    # gradients
    "pullback",
    "gradient",
    "grad",
    "value_and_grad",
    "jacobian",
    "hessian",
    "hvp",
    "Pullback",
    # compiled, or written out
    "jit",
    "export_adjoint",
    # looking inside
    "code_lowered",
    "code_primal",
    "code_adjoint",
    "explain",
    # errors
    "DifferentiationError",
    "NoRuleError",
    "UnsupportedSyntaxError",
]
__version__ = "0.1.0"
