"""Derivative rules for Python's operators, math, builtins and NumPy.

Engines find the rules once the package is installed: nothing has to be imported. There is one
public function, `evalpoly`: a polynomial, with its rule.

The folders mirror the libraries: `python` and `numpy` have a module for each of theirs, or for each
section of the manual, and `shared` what several need. Every module of rules has a rule set named
`rule`, and `MODULES` lists them all: a module that is not in the list has no effect. It is imported
when a rule for one of its functions is looked up, which `contents` tells, and for those in
`LIBRARIES` after their library has been. The calls that rules are checked with are in `examples`,
in a tree of the same shape.
"""

from rules_base.contents import FUNCTIONS
from rules_base.numpy import without_rules
from rules_base.numpy.evalpoly import evalpoly
from rulescore import RuleSet, Section, hookimpl

__all__ = ["evalpoly"]
__version__ = "0.1.0"
__tracebackhide__ = True  # a rule runs in place of its function: see the README of rulescore

MODULES = (
    "python.builtins",
    "python.cmath",
    "python.math",
    "python.statistics",
    "numpy.arithmetic",
    "numpy.attributes",
    "numpy.calculus",
    "numpy.complex",
    "numpy.constants",
    "numpy.convolutions",
    "numpy.covariance",
    "numpy.arrays.creation",
    "numpy.cumulative",
    "numpy.einsum",
    "numpy.evalpoly",
    "numpy.fft",
    "numpy.histograms",
    "numpy.arrays.indexing",
    "numpy.arrays.joining",
    "numpy.matmul",
    "numpy.arrays.padding",
    "numpy.polyfit",
    "numpy.polynomial",
    "numpy.products",
    "numpy.random",
    "numpy.arrays.ranges",
    "numpy.arrays.rearranging",
    "numpy.reductions",
    "numpy.arrays.selecting",
    "numpy.sequences",
    "numpy.arrays.shaping",
    "numpy.arrays.sorting",
    "numpy.statistics",
    "numpy.ufunc_methods",
    "numpy.ufuncs",
    "numpy.without_rules",
    "numpy.linalg.chains",
    "numpy.linalg.decompositions",
    "numpy.linalg.eigenvalues",
    "numpy.linalg.norms",
    "numpy.linalg.solve",
)

LIBRARIES = {  # that a program, and NumPy itself, may do without
    "python.cmath": "cmath",
    "python.statistics": "statistics",
    "numpy.fft": "numpy.fft",
    "numpy.polynomial": "numpy.polynomial",
    "numpy.random": "numpy.random",
}


@hookimpl
def rulescore_rules() -> list[RuleSet | Section]:
    """Return the rule sets of this plugin."""
    sections = [
        Section(LIBRARIES.get(name, "numpy"), f"rules_base.{name}", tuple(functions.split()))
        for name, functions in FUNCTIONS.items()
    ]
    return [without_rules.rule, *sections]
