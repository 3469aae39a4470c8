"""Programs made at random, with arrays, views, loops and branches: specialized, and generic.

Each is specialized for one choice of arguments and called with three others: other branches,
other numbers of turns, other shapes and dtypes. What it gives must be what the tape
gives, in value and in type, and the tape's gradient must be that of differences, along
one direction.
"""

import collections
import copy
import random
import warnings

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slope
from tests.zygote_lite.checks.oracles import answers, generic, is_alike, is_specialized, outcome
from tests.zygote_lite.fuzz.generate import arrays as array_programs
from zygote_lite import value_and_grad

COUNT = 30  # more of them: `nox -s fuzz`
ARGUMENTS = (0, 1, 2, 3)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def differs(text, seed):
    """Return what is wrong with a program, and how it was answered: `unfit`, `fast`, ..."""
    f = array_programs.load(text, seed)
    first, *others = array_programs.arguments(seed)
    choices = random.Random(seed).sample(others, 3)
    want = generic(f, copy.deepcopy(first), ARGUMENTS)
    if want[0] == "error":
        return None, f"loud: {want[1].__name__}"
    wrong = against_differences(f, first, want[1][1])
    if wrong:
        return wrong, "wrong"
    differentiated = value_and_grad(f, ARGUMENTS)
    for _ in (1, 2):
        differentiated(*copy.deepcopy(first))
    if not is_specialized(f):
        return None, "unfit"
    fast = 0
    for xs in [first, *choices]:
        given = copy.deepcopy(xs)
        want = generic(f, copy.deepcopy(xs), ARGUMENTS)
        fast += answers(f, xs)
        got = outcome(lambda given=given: differentiated(*given))
        tolerance = 2e-3 if xs[2].dtype == np.float32 else 1e-8
        if not is_alike(got, want, tolerance):
            return f"{xs}\n# got {got}\n# generic {want}", "wrong"
        if not is_alike(list(given), list(xs), 0.0):
            return f"{xs} became {given}", "wrong"
    return None, "fast" if fast else "refused"


def against_differences(f, xs, gradient):
    """Compare a gradient with differences along a direction; return what is wrong."""
    k = xs[-1]
    source = np.random.default_rng(k)
    direction = [source.normal(size=np.shape(v)) for v in xs[:4]]

    def value_at(h):
        moved = [v + h * u for v, u in zip(xs[:4], direction, strict=True)]
        return float(f(float(moved[0]), float(moved[1]), *moved[2:], k))

    best, off = slope(value_at, 1e-4)
    got = sum(np.sum(d * u) for d, u in zip(gradient, direction, strict=True) if d is not None)
    if not np.isfinite(best) or off > 1e-6 * (1 + abs(best)):
        return None  # at a kink, or too steep
    if abs(got - best) > 1e-4 * (1 + abs(best)):
        return f"{xs}: along {direction} generic {got}, differences {best}"
    return None


@pytest.mark.sampled(4)
def test_programs(sample):
    counts, seeds = collections.Counter(), sample(range(COUNT))
    for seed in seeds:
        text = array_programs.program(seed)
        wrong, verdict = differs(text, seed)
        assert wrong is None, f"# seed {seed}\n{text}\n# {wrong}"
        counts[verdict.split(":")[0]] += 1
    assert counts["fast"] >= 0.5 * len(seeds), counts
    assert counts["loud"] <= 0.15 * len(seeds), counts


def test_programs_have_it_all():
    text = "\n".join(map(array_programs.program, range(300)))
    for construct in (
        "while ", "for ", "break", "continue", "else:", "raise ", "lambda ", ".append(", "zip(",
        "enumerate(", "[::-1]", ".T", "np.ravel(", "np.asarray(", "[x > 0.2] =", "[1:] +=",
        "[[0, -1]] =", "np.zeros_like(", "np.einsum(", "keepdims=True", "squash(", "twist(",
    ):  # fmt: skip
        assert construct in text, construct
    assert array_programs.program(7) == array_programs.program(7) != array_programs.program(8)


def test_a_wrong_answer_is_found(monkeypatch):
    """The comparison is worth something: specialized code that is off by a little is told."""
    from zygote_lite._specialize import entry as _entry

    compiled = _entry.compile_text

    def off(made, f):
        fast = compiled(made, f)
        return lambda *xs: (lambda y, *ds: (y, ds[0] * (1 + 1e-6), *ds[1:]))(*fast(*xs))

    monkeypatch.setattr(_entry, "compile_text", off)
    text = "def f(a, b, x, m, k):\n    return a * b + np.sum(x) * np.sum(m)\n"
    wrong, _ = differs(text, 1)
    assert wrong is not None
    assert "generic" in wrong
