"""Random programs and the cases of the constructs, forward: `jvp` against the gradient.

The tangent along a random direction is compared with the gradient times that direction, and where
transformed code answers, with the tape's. Then forward mode goes over the gradient, by one
argument, which is compared with `hvp` and, where transformed code answers, with the tape.
`python -m tests.zygote_lite.fuzz.forward_fuzzer COUNT FIRST` runs COUNT programs of the transformed
fuzzer's from FIRST on, then all cases.
"""

import collections
import copy
import sys
import warnings

import numpy as np

from rulescore import Tangent
from rulescore.testing._leaves import inner
from tests.zygote_lite.constructs.table import CASES
from tests.zygote_lite.fuzz.specialized_fuzzer import (
    COARSE,
    KINDS,
    TOLERANCE,
    begin_again,
    of_effects,
)
from zygote_lite import DifferentiationError, grad, gradient, hvp, jvp, testing
from zygote_lite._cotangents.zeros import filled
from zygote_lite.modes import TRANSFORMED


def direction(d, generator):
    """Return random numbers of the form of zeros."""
    if isinstance(d, Tangent):
        return Tangent(d._primal, **{k: direction(part, generator) for k, part in d.items()})
    if isinstance(d, dict):
        return {key: direction(part, generator) for key, part in d.items()}
    if isinstance(d, tuple | list):
        parts = [direction(part, generator) for part in d]
        return parts if isinstance(d, list) else tuple.__new__(type(d), parts)
    if isinstance(d, np.ndarray):
        return np.asarray(generator.normal(size=d.shape), d.dtype)
    return None if d is None else type(d)(generator.normal())


def check(f, xs, numbers, seed, tolerance=TOLERANCE, slopes=None):
    """Raise where the tangent of a call is not its gradient times a direction.

    Returns whether it is refused, recorded or transformed. `slopes` is the gradient, where known.
    """
    begin_again(f)
    slopes = gradient(f, *copy.deepcopy(xs)) if slopes is None else slopes
    generator = np.random.default_rng(seed)
    moves = [direction(filled(None, x), generator) for x in copy.deepcopy(xs)]
    dxs = [v if i in numbers else None for i, v in enumerate(moves)]
    plain = copy.deepcopy(xs)
    begin_again(f)
    value = f(*plain)
    begin_again(f)
    with testing.compared(tolerance), testing.strict(), testing.observed() as answers:
        try:
            y, dy = jvp(f, copy.deepcopy(xs), dxs)
        except DifferentiationError:
            return "refused"
    if answers:
        begin_again(f)
        y, dy = jvp(f, copy.deepcopy(xs), dxs)
    np.testing.assert_allclose(y, value, rtol=tolerance, atol=tolerance)
    pairs = [(d, v) for d, v in zip(slopes, dxs, strict=True) if v is not None]
    terms = [inner(d, v) for d, v in pairs]
    if np.all(np.isfinite(terms)):
        scale = 1 + sum(map(abs, terms))
        np.testing.assert_allclose(dy, sum(terms), rtol=tolerance, atol=tolerance * scale)
    return "transformed" if answers else "recorded"


def check_second(f, xs, numbers, seed, tolerance=TOLERANCE):
    """Raise where the tangent of a gradient is not the Hessian times a vector.

    Returns whether it is refused, recorded or transformed; `None` where no argument is for it.
    """
    number = next((i for i in numbers if type(xs[i]) in (float, np.float64, np.ndarray)), None)
    if number is None or np.asarray(xs[number]).dtype.kind != "f":
        return None
    v = direction(filled(None, xs[number]), np.random.default_rng(seed))
    dxs = [v if i == number else None for i in range(len(xs))]
    begin_again(f)
    with testing.compared(tolerance), testing.strict(), testing.observed() as answers:
        try:
            _, dg = jvp(grad(f, number), copy.deepcopy(xs), dxs)
        except (DifferentiationError, TypeError):  # or the value is no number
            return "refused"
    begin_again(f)
    with testing.recorded_only():
        product = hvp(f, number)(*copy.deepcopy(xs), v)
    if np.all(np.isfinite(dg)) and np.all(np.isfinite(product)):
        scale = 1 + np.max(np.abs(product), initial=0.0)
        np.testing.assert_allclose(dg, product, rtol=tolerance, atol=tolerance * scale)
    return "transformed" if any(a.tier == TRANSFORMED for a in answers) else "recorded"


def run(count, first, choices_of_each=1):
    """Return how often each engine answered for random programs, and what is wrong."""
    counts, wrong = collections.Counter(), []
    kinds = [kind for kind in KINDS if kind is not of_effects]  # they draw, or write, anew
    for seed in range(first, first + count):
        kind = kinds[seed % len(kinds)]
        f, choices, numbers = kind(seed)
        for xs in choices[:choices_of_each]:
            single = any(getattr(x, "dtype", None) == np.float32 for x in xs)
            name = f"{kind.__name__} {seed}"
            _note(counts, wrong, name, f, xs, numbers, seed, COARSE if single else TOLERANCE)
        testing.forget()
    return counts, wrong


def run_cases():
    """Return the same for the cases of the constructs."""
    counts, wrong = collections.Counter(), []
    for name, case in CASES.items():
        for xs in case.inputs if case.message is None else ():
            _note(counts, wrong, name, case.function, xs, range(len(xs)), 0, TOLERANCE)
    return counts, wrong


def _note(counts, wrong, name, f, xs, numbers, seed, tolerance):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            begin_again(f)
            f(*copy.deepcopy(xs))
            begin_again(f)
            slopes = gradient(f, *copy.deepcopy(xs))
        except Exception:
            counts["no gradient"] += 1
            return
        try:
            counts[check(f, copy.deepcopy(xs), numbers, seed, tolerance, slopes)] += 1
            second = check_second(f, copy.deepcopy(xs), numbers, seed, tolerance)
            counts[f"of the gradient: {second}"] += second is not None
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    count, first = (int(x) for x in [*sys.argv[1:], "200", "0"][:2])
    for counts, wrong in (run(count, first), run_cases()):
        print(*wrong, dict(counts), sep="\n")
