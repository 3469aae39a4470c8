"""Derivative rules for Python's operators, math, builtins and NumPy."""

import importlib

from rules_base._polynomials import evalpoly
from rulescore import RuleSet, hookimpl

__all__ = ["evalpoly"]
__version__ = "0.1.0"

MODULES = (
    "_arithmetic",
    "_attributes",
    "_builtins",
    "_calculus",
    "_cmath",
    "_complex",
    "_constants",
    "_covariance",
    "_creation",
    "_cumulative",
    "_decompositions",
    "_eigenvalues",
    "_einsum",
    "_elementary",
    "_fft",
    "_histograms",
    "_indexing",
    "_joining",
    "_linalg",
    "_math",
    "_matmul",
    "_matrix_chains",
    "_norms",
    "_padding",
    "_polyfit",
    "_polynomials",
    "_products",
    "_random",
    "_rearranging",
    "_reductions",
    "_selecting",
    "_sequences",
    "_shaping",
    "_sorting",
    "_statistics",
    "_statistics_of_arrays",
    "_ufunc_methods",
    "_without_rules",
)


@hookimpl
def rulescore_rules() -> list[RuleSet]:
    """Return the rule sets of this plugin."""
    return [importlib.import_module(f"rules_base.{name}").rule for name in MODULES]
