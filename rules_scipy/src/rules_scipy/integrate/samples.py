"""Integrals of samples, for batches: their gradients are those of their own source."""

import numpy as np
from scipy import integrate as si

from rulescore import Array, RuleSet
from rulescore.batching import behind, called

rule = RuleSet("rules_scipy")


def of_samples(f):
    """Declare the batching rules of a function of samples, at places that differ or not."""

    @rule.batched(f)
    def _(y: Array, x=None, dx=1.0, axis=-1, **options):
        if np.ndim(x) > 1 or np.ndim(dx):
            return NotImplemented
        return called(f, y, x=x, dx=dx, axis=behind(axis, y), **options)


for _f in (si.trapezoid, si.simpson, si.cumulative_trapezoid, si.cumulative_simpson):
    of_samples(_f)


@rule.batched(si.romb)
def _(y: Array, dx=1.0, axis=-1, show=False):
    if np.ndim(dx) or show:
        return NotImplemented
    return called(si.romb, y, dx=dx, axis=behind(axis, y))
