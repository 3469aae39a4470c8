"""Orthogonal polynomials (DLMF 18), by their argument: 18.9.15 and the like."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.refusals import ORDER, PARAMETER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.orthogonal")

N = {"n": ORDER}
N_ALPHA = {"n": ORDER, "alpha": PARAMETER}

rule.scalar(sp.eval_jacobi, refuses={**N_ALPHA, "beta": PARAMETER})(
    lambda n, alpha, beta, x: (
        None, None, None,
        below(n, (n + alpha + beta + 1) / 2, lambda m: sp.eval_jacobi(m, alpha + 1, beta + 1, x)),
    )
)  # fmt: skip
rule.scalar(sp.eval_sh_jacobi, refuses={**N, "p": PARAMETER, "q": PARAMETER})(
    lambda n, p, q, x: (
        None, None, None, below(n, n, lambda m: sp.eval_sh_jacobi(m, p + 2, q + 1, x)),
    )
)  # fmt: skip
rule.scalar(sp.eval_gegenbauer, refuses=N_ALPHA)(  # 18.9.19
    lambda n, alpha, x: (None, None, gegenbauer(n, alpha, x))
)
rule.scalar(sp.eval_genlaguerre, refuses=N_ALPHA)(  # 18.9.23
    lambda n, alpha, x: (None, None, -below(n, 1, lambda m: sp.eval_genlaguerre(m, alpha + 1, x)))
)
rule.scalar(sp.eval_laguerre, refuses=N)(
    lambda n, x: (None, -below(n, 1, lambda m: sp.eval_genlaguerre(m, 1.0, x)))
)
rule.scalar(sp.eval_legendre, refuses=N)(lambda n, x: (None, gegenbauer(n, 0.5, x)))
rule.scalar(sp.eval_sh_legendre, refuses=N)(lambda n, x: (None, 2 * gegenbauer(n, 0.5, 2 * x - 1)))
rule.scalar(sp.eval_chebyt, refuses=N)(  # 18.9.21
    lambda n, x: (None, below(n, n, lambda m: sp.eval_chebyu(m, x)))
)
rule.scalar(sp.eval_chebyu, refuses=N)(lambda n, x: (None, gegenbauer(n, 1.0, x)))
rule.scalar(sp.eval_chebyc, refuses=N)(
    lambda n, x: (None, below(n, n, lambda m: sp.eval_chebyu(m, x / 2)))
)
rule.scalar(sp.eval_chebys, refuses=N)(lambda n, x: (None, gegenbauer(n, 1.0, x / 2) / 2))
rule.scalar(sp.eval_sh_chebyt, refuses=N)(
    lambda n, x: (None, below(n, 2 * n, lambda m: sp.eval_chebyu(m, 2 * x - 1)))
)
rule.scalar(sp.eval_sh_chebyu, refuses=N)(lambda n, x: (None, 2 * gegenbauer(n, 1.0, 2 * x - 1)))
rule.scalar(sp.eval_hermite, refuses=N)(  # 18.9.25
    lambda n, x: (None, below(n, 2 * n, lambda m: sp.eval_hermite(m, x)))
)
rule.scalar(sp.eval_hermitenorm, refuses=N)(
    lambda n, x: (None, below(n, n, lambda m: sp.eval_hermitenorm(m, x)))
)


# nodes and weights, and polynomials, of a degree
rule.constant(sp.roots_hermite, sp.roots_hermitenorm, sp.hermite, sp.hermitenorm)


def below(n, factor, f):
    """Return `factor * f(n - 1)`, and zero where `n` is zero."""
    n = degree(n)
    if isinstance(n, int | float):
        return factor * f(n - 1) if n else 0.0
    positive = n != 0
    return np.where(positive, factor * f(n - positive), 0.0)


def degree(n):
    """Return degrees as integers where all are whole.

    For these SciPy has recurrences; its formula for other degrees cancels or overflows from 50 on.
    """
    if isinstance(n, int | float):
        return int(n) if n % 1 == 0 else n
    return np.asarray(n).astype(int) if np.all(np.asarray(n) % 1 == 0) else n


def gegenbauer(n, alpha, x):
    """Return the derivative of `eval_gegenbauer(n, alpha, x)`."""
    return below(n, 2 * alpha, lambda m: sp.eval_gegenbauer(m, alpha + 1, x))
