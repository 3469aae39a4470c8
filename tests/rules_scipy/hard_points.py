"""Random points of functions of `scipy.special`, against derivatives of mpmath's functions.

    python -m tests.rules_scipy.hard_points [--points N] [--seed N] [name ...]

Arguments, orders and parameters are drawn evenly by their logarithm. A derivative may be off by
1e-8 of itself, and by what a change of the arguments by 1e-12 changes. Where SciPy's own value is
off by as much, or mpmath takes too long, the point is left out. It prints what is wrong.
"""

import argparse
import math
import sys
import warnings
from collections import Counter

import mpmath as mp
import numpy as np
from scipy import special

from rulescore import rrule
from tests.rules_scipy.exact import slope_by_mpmath
from tests.rules_scipy.sweep import OutOfTime, within

TOLERANCE, ROUNDED = 1e-8, 1e-12
DIGITS, MORE = 30, 150
SECONDS = 3.0


def size(low, high):
    """Draw a positive number."""
    return lambda r: math.exp(r.uniform(math.log(low), math.log(high)))


def signed(low, high):
    """Draw a number of either sign."""
    return lambda r: float(size(low, high)(r) * r.choice([-1, 1]))


def share(r):
    """Draw a number between 0 and 1, often close to an end."""
    small = size(1e-12, 0.5)(r)
    return float(r.choice([small, 1 - small, r.uniform()]))


def count(low, high):
    """Draw an integer."""
    return lambda r: int(r.integers(low, high + 1))


def lower_gamma(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def lower_beta(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def upper_beta(a, b, x):
    return mp.betainc(a, b, x, 1, regularized=True)


def variance_ratio(n, d, x):
    return lower_beta(n / 2, d / 2, n * x / (d + n * x))


def student(df, t):
    tail = lower_beta(df / 2, mp.mpf(1) / 2, df / (df + t * t)) / 2
    return tail if t < 0 else 1 - tail


SHAPE, FREEDOM, ORDER = size(1e-3, 1e3), size(0.1, 1e4), signed(1e-4, 300)
CASES = {
    "gamma": (mp.gamma, signed(1e-8, 170)),
    "gammaln": (lambda x: mp.re(mp.loggamma(x)), signed(1e-8, 1e12)),
    "rgamma": (mp.rgamma, signed(1e-8, 170)),
    "psi": (mp.digamma, size(1e-8, 1e10)),
    "polygamma": (mp.polygamma, count(0, 30), size(1e-4, 1e5)),
    "beta": (mp.beta, size(1e-4, 1e4), size(1e-4, 1e4)),
    "poch": (mp.rf, signed(1e-4, 60), signed(1e-4, 60)),
    "binom": (mp.binomial, signed(1e-3, 100), signed(1e-3, 100)),
    "gammainc": (lower_gamma, size(1e-4, 1e4), size(1e-4, 1e4)),
    "betainc": (lower_beta, SHAPE, SHAPE, share),
    "betaincc": (upper_beta, SHAPE, SHAPE, share),
    "fdtr": (variance_ratio, FREEDOM, FREEDOM, size(1e-3, 1e3)),
    "stdtr": (student, size(1e-2, 1e6), signed(1e-4, 1e4)),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), size(1e-8, 1e8)),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), signed(1e-8, 300)),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), signed(1e-8, 100)),
    "ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), share),
    "jv": (mp.besselj, ORDER, size(1e-6, 1e4)),
    "yv": (mp.bessely, ORDER, size(1e-6, 1e4)),
    "iv": (mp.besseli, ORDER, size(1e-6, 600)),
    "ive": (lambda v, x: mp.besseli(v, x) * mp.exp(-x), ORDER, size(1e-6, 1e4)),
    "kv": (mp.besselk, ORDER, size(1e-6, 600)),
    "kve": (lambda v, x: mp.besselk(v, x) * mp.exp(x), ORDER, size(1e-6, 1e4)),
    "struve": (mp.struveh, ORDER, size(1e-6, 1e4)),
    "ellipk": (mp.ellipk, share),
    "ellipkinc": (mp.ellipf, signed(1e-6, 30), share),
    "ellipeinc": (mp.ellipe, signed(1e-6, 30), share),
    "elliprj": (mp.elliprj, SHAPE, SHAPE, SHAPE, SHAPE),
    "hyp1f1": (mp.hyp1f1, signed(1e-2, 20), size(0.1, 20), signed(1e-4, 100)),
    "hyp2f1": (mp.hyp2f1, signed(1e-2, 20), signed(1e-2, 20), size(0.1, 20), share),
    "exp1": (mp.e1, size(1e-8, 600)),
    "expi": (mp.ei, signed(1e-8, 600)),
    "expn": (mp.expint, count(0, 100), size(1e-6, 500)),
    "spence": (lambda z: mp.polylog(2, 1 - z), size(1e-8, 1e6)),
    "lambertw": (mp.lambertw, size(1e-8, 1e10)),
    "zeta": (mp.zeta, size(1.0001, 100), size(1e-3, 1e5)),
    "eval_legendre": (mp.legendre, count(0, 200), share),
    "eval_chebyu": (mp.chebyu, count(0, 200), share),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), count(0, 200), size(1e-4, 100)),
    "boxcox": (lambda x, p: (x**p - 1) / p, size(1e-5, 1e5), signed(1e-12, 8)),
    "agm": (mp.agm, size(1e-8, 1e8), size(1e-8, 1e8)),
    "exprel": (lambda x: mp.expm1(x) / x, signed(1e-12, 600)),
}


def exact(xs):
    return [x if isinstance(x, int) else mp.mpf(x) for x in xs]


def slope(reference, xs, i):
    """Return mpmath's derivative by an argument."""
    return slope_by_mpmath(reference, exact(xs), i)


def judge(name, reference, xs, i):
    """Return whether the derivative by an argument is right, and what is said of it."""
    y, back = rrule(getattr(special, name), *xs)
    if not np.isfinite(y) or i in back.rule.refuses:
        return "left out", ""
    needed = [k == i + 1 for k in range(len(xs) + 1)]
    found = complex(back.only(needed)(1.0 if np.isrealobj(y) else 1.0 + 0j)[i + 1]).real
    with mp.workdps(DIGITS):
        value, expected = reference(*exact(xs)), mp.re(slope(reference, xs, i))
    if abs(found - expected) <= TOLERANCE * abs(expected):
        return "right", ""
    if abs(y - value) > TOLERANCE * abs(value) or abs(expected) < 1e-290:
        return "left out", ""
    with mp.workdps(MORE):  # differences lose digits where the value is far larger
        expected = mp.re(slope(reference, xs, i))
        moved = 0
        for k, x in enumerate(xs):
            if isinstance(x, float):
                other = [*xs[:k], x * (1 + ROUNDED), *xs[k + 1 :]]
                moved += abs(mp.re(slope(reference, other, i)) - expected)
    right = abs(found - expected) <= TOLERANCE * abs(expected) + moved
    return "right" if right else "WRONG", f"{found}, where mpmath says {mp.nstr(expected, 15)}"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="functions, if not all")
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    counts = Counter()
    for name in asked.names or CASES:
        reference, *draws = CASES[name]
        generator = np.random.default_rng((asked.seed, *name.encode()))
        for _ in range(asked.points):
            xs = [draw(generator) for draw in draws]
            for i, x in enumerate(xs):
                if isinstance(x, int):
                    continue
                try:
                    with within(SECONDS):
                        verdict, about = judge(name, reference, xs, i)
                except (OutOfTime, mp.libmp.NoConvergence, ZeroDivisionError, ValueError):
                    verdict, about = "left out", ""
                counts[verdict] += 1
                if verdict == "WRONG":
                    print(f"{name}{tuple(xs)} by argument {i}: {about}", flush=True)
    print(dict(counts))
    return counts["WRONG"] > 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
