"""Automatic differentiation of plain Python and NumPy by source transformation.

A gradient is answered in one of two ways. The first calls are *recorded* on a tape, which takes
every construct. Later calls are *transformed*, where that is possible: `_optimize` interprets the
function for the types that were seen, inlines the rules and writes the reverse pass as Python. The
tape defines what a gradient is; the transform answers faster, and must agree with it.

Both begin with the source: `_source` finds it, `_lower` turns it into the IR of `_ir`. Recording
code is made from that by `_instrument`, `_record`, `_emit` and `_transform`, in this order.
`_optimize` lists its own stages; its code is compiled for `_jitted` functions, and `_export` writes
it out as a module. `_show` shows all of it.

What recording code runs on: `_kinds` tells how a value is identified, `_store` has the
cotangents of what has an address, `_state` what a run knows, `_activity` what depends on a
differentiated argument. `_tape` resolves each call, in the order that its docstring lists, and
records it in `_entries` (generators: `_generators`); `_rules` applies a rule, `_arguments` places
the arguments of a call, `_refusal` words what no gradient can pass. The engine's own pullbacks, in
the forms of `_pullbacks` and listed in `_tables`, are in `_structural`, `_attributes`, `_lists`,
`_containers`, `_composite`, `_construct`, `_parts` and `_writes`; `_iteration` and `_itertools`
have the source of what is written in C. `_api` is what users call, `_boundary` checks what goes in
and comes out, and `_nested` differentiates gradients again.
`testing` has switches for tests, which `_modes` keeps: which engine answers, and whether the two
are compared.
"""

from zygote_lite._interface.export.module import export_adjoint
from zygote_lite._interface.gradients import (
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jit,
    pullback,
    value_and_grad,
)
from zygote_lite._interface.show import code_adjoint, code_lowered, code_primal, explain
from zygote_lite._tape.run import Pullback
from zygote_lite.errors import DifferentiationError, NoRuleError, UnsupportedSyntaxError

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
