"""What a sparse array has: its numbers, its pattern, its shape."""

import numpy as np
from scipy import sparse as sp

from rules_scipy.sparse.values import (
    KINDS,
    Sparse,
    filled,
    is_wide,
    located,
    places,
    stored,
    summed,
    taken,
    unshared,
)
from rulescore import RuleSet, project
from rulescore.faults import an

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.attributes")
OF_PATTERN = ("nnz", "size", "row", "col", "has_sorted_indices", "has_canonical_format",
              "blocksize")  # fmt: skip
OF_SHAPE = ("shape", "ndim", "dtype")
IN_PLACE = ("eliminate_zeros", "prune", "resize", "setdiag", "sum_duplicates")


def refuse_wide(a, name):
    """Raise `NotImplementedError` for the pattern of an array that stores zeros."""
    if is_wide(a):
        raise NotImplementedError(
            f"`.{name}` of {an(type(a).__name__)} that was made of a dense array, or of a sum or "
            "product with zeros: these are stored where a gradient passes, and SciPy leaves them "
            "out; make it of data and indices"
        )


def has_field(a, name):
    """Return whether a sparse array has an attribute of its own."""
    return name in vars(a)


rule.constant(has_field)


@rule(getattr)
def _(a: Sparse, name: str):
    if not has_field(a, name):
        raise NotImplementedError(
            f"{an(type(a).__name__)} has no rule for `.{name}`: use `.data`, or `toarray()`"
        )
    if name == "data":
        refuse_wide(a, name)
        return a.data, lambda dy: (filled(a, np.ravel(dy)), None)
    if name not in ("_shape", "maxprint"):
        refuse_wide(a, name)
    return getattr(a, name), lambda dy: (None, None)


def members(name):
    """Return the properties or methods of a name of all classes, each once."""
    return [*{id(f): f for f in [getattr(kind, name, None) for kind in KINDS] if f}.values()]


for name in OF_SHAPE:
    rule.constant(*members(name))
for name in OF_PATTERN:
    for member in members(name):

        @rule(member)
        def _(a: Sparse, *, _name=name):
            refuse_wide(a, _name)
            return getattr(a, _name), lambda dy: (None,)


for member in members("count_nonzero"):

    @rule(member)
    def _(a: Sparse, axis=None, *, _f=member):
        return _f(unshared(a), axis), None


for name in ("tolil", "todok"):
    for member in members(name):

        @rule(member)
        def _(a: Sparse, copy=False, *, _name=name):
            raise NotImplementedError(
                f"`{_name}` of {an(type(a).__name__)} has no rule: its result is made for writing, "
                "and carries no gradient; use `tocsr()`"
            )


for name in ("maximum", "minimum"):
    for member in members(name):

        @rule(member)
        def _(a: Sparse, other: object, *, _name=name):
            raise NotImplementedError(
                f"`{_name}` of {an(type(a).__name__)} has no rule yet: use that of `toarray()`"
            )


rule.without_rule(
    "it changes the array in place: make a new one of the data",
    *[f"scipy.sparse.{kind.__name__}.{name}" for kind in KINDS for name in IN_PLACE],
)
rule.without_rule(
    "it sums up numbers of one place in the array: use that of `tocsr()`",
    *[f"scipy.sparse.{kind}.{name}" for kind in ("coo_array", "coo_matrix")
      for name in ("max", "min")],
)  # fmt: skip


@rule(sp.find)
def _(A: Sparse):
    a = summed(A.tocoo())
    if np.any(stored(a) == 0):
        raise NotImplementedError(
            "scipy.sparse.find leaves out the zeros that are stored, and has a rule where none "
            "is: use `tocoo()`"
        )
    y = sp.find(unshared(A))

    def pullback(dy):
        if dy[2] is None:
            return (None,)
        at = np.ravel_multi_index((y[0], y[1]), a.shape)
        return (project(filled(a, taken(dy[2], located(places(a), at))), A),)

    return y, pullback
