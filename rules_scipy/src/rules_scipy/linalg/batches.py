"""Factors of matrices and solutions by them, for batches."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.batches import of_stacks, solved
from rulescore import Array, RuleSet
from rulescore.batching import called

rule = RuleSet("rules_scipy")
rule.batched(sl.cholesky)(of_stacks(sl.cholesky, "lower", "overwrite_a", "check_finite"))
rule.batched(sl.lu_factor)(of_stacks(sl.lu_factor, "overwrite_a", "check_finite"))


@rule.batched(sl.cho_factor)
def _(a: Array, lower=False, overwrite_a=False, check_finite=True):
    if np.ndim(a) < 3 or overwrite_a:
        return NotImplemented
    return called(sl.cho_factor, a, lower, False, check_finite)[0], lower


@rule.batched(sl.cho_solve)
def _(c_and_lower: tuple, b: Array, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    if np.ndim(lower) or overwrite_b:
        return NotImplemented
    options = {"check_finite": check_finite}
    return solved(lambda right: called(sl.cho_solve, (c, lower), right, **options), c, b)


@rule.batched(sl.lu_solve)
def _(lu_and_piv: tuple, b: Array, trans=0, overwrite_b=False, check_finite=True):
    if overwrite_b:
        return NotImplemented
    options = {"check_finite": check_finite}
    return solved(
        lambda right: called(sl.lu_solve, lu_and_piv, right, trans, **options), lu_and_piv[0], b
    )
