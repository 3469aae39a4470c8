"""Examples by the file of rules that a test file mirrors, and hard points by mpmath."""

import importlib
from pathlib import Path

import mpmath
import numpy as np
import pytest

from rulescore import rrule
from rulescore._naming import name_of


def pytest_generate_tests(metafunc):
    """Give a test that asks for an `example` those of the rule module that its file mirrors."""
    if "example" in metafunc.fixturenames:
        path = Path(metafunc.definition.path).relative_to(Path(__file__).parent)
        module = ".".join((*path.parts[:-1], path.stem.removeprefix("test_")))
        examples = importlib.import_module(f"rules_scipy.{module}").rule.examples
        ids = [f"{name_of(shown(f))}-{i}" for i, (f, _, _) in enumerate(examples)]
        metafunc.parametrize("example", examples, ids=ids)
    if "hard" in metafunc.fixturenames:
        ids = [f"{f.__name__}-{position}-{i}" for i, (f, _, position, *_) in
               enumerate(metafunc.module.HARD)]  # fmt: skip
        metafunc.parametrize("hard", metafunc.module.HARD, ids=ids)


def shown(f):
    """Return a function, or the type of a callable object."""
    return f if hasattr(f, "__name__") or isinstance(f, property) else type(f)


@pytest.fixture
def agrees():
    """Give a function that compares derivatives with those of mpmath's function.

    A hard case is a function, mpmath's, the position of the argument, points, and a tolerance.
    """

    def compare(f, reference, position, points, tolerance=1e-12, digits=40):
        for xs in points:
            y, back = rrule(f, *xs)
            needed = [i == position + 1 for i in range(len(xs) + 1)]
            dy = 1.0 if np.isrealobj(y) else 1.0 + 0.0j
            found = np.conj(back.only(needed)(dy)[position + 1])
            with mpmath.workdps(digits):
                exact = [mpmath.mpmathify(x) for x in xs]

                def moved(x, exact=exact):
                    return reference(*exact[:position], x, *exact[position + 1 :])

                expected = mpmath.diff(moved, exact[position])
                off = abs(mpmath.mpmathify(complex(found)) - expected)
                assert off <= tolerance * abs(expected), (xs, found, expected)

    return compare
