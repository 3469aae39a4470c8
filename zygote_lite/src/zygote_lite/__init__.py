"""Automatic differentiation of plain Python and NumPy by source transformation.

The stages, each a module, in the order in which data flows: `_source`, `_lower`, `_instrument`,
`_primal`, `_reverse`, `_emit`, `_transform`. `_pull` resolves calls; `_structural`,
`_attributes` and `_containers` have the engine's own pullbacks, `_iteration` and `_itertools` the
source of what is written in C, `_store` the cotangents of what has an address.
"""

from zygote_lite._api import (
    Pullback,
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    pullback,
    value_and_grad,
)
from zygote_lite._errors import DifferentiationError, NoRuleError, UnsupportedSyntaxError
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
