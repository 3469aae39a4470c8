"""Compare rules to directional finite differences of the functions themselves."""

import copy
import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

from rulescore import rrule
from rulescore._naming import name_of

STEPS = (1e-5, 1e-4, 1e-6)


def leaves(x):
    """Return the numbers and numeric arrays of a nested value, in order."""
    if isinstance(x, (list, tuple)):
        return [leaf for part in x for leaf in leaves(part)]
    if isinstance(x, dict):
        return [leaf for part in x.values() for leaf in leaves(part)]
    return [x]


def moved(x, direction, step):
    """Return `x` moved along `direction`, which has its structure."""
    if direction is None:
        return x
    if isinstance(x, (list, tuple)):
        parts = [moved(a, b, step) for a, b in zip(x, direction, strict=True)]
        return type(x)(parts) if type(x) in (list, tuple) else type(x)(*parts)
    return x + step * direction


def direction_for(x, rng):
    """Return a random direction with the structure of `x`, `None` where nothing can move."""
    if isinstance(x, (list, tuple)):
        parts = [direction_for(a, rng) for a in x]
        return type(x)(parts) if type(x) in (list, tuple) else type(x)(*parts)
    if isinstance(x, (bool, np.bool_, int, np.integer, str)) or x is None:
        return None
    if not isinstance(x, (float, complex, np.generic, np.ndarray)):
        return None
    kind = np.asarray(x).dtype.kind
    if kind not in "fc":
        return None
    v = rng.uniform(0.5, 1.5, np.shape(x)) * rng.choice([-1.0, 1.0], np.shape(x))
    if kind == "c":
        v = v + 1j * rng.uniform(-1.0, 1.0, np.shape(x))
    if isinstance(x, (float, complex)):
        return type(x)(v)
    return np.asarray(v, dtype=x.dtype)


def cotangent_for(y, rng):
    """Return a random cotangent with the structure of the result `y`."""
    if isinstance(y, np.flatiter):
        y = np.array(y)
    return direction_for(y, rng)


def inner(a, b):
    """Return the real inner product of two nested values; `None` counts as zero."""
    if a is None or b is None:
        return 0.0
    if isinstance(b, np.flatiter):
        b = np.array(b)
    if isinstance(a, (list, tuple)):
        return sum(inner(p, q) for p, q in zip(a, b, strict=True))
    return float(np.sum(np.real(np.conj(a) * np.asarray(b))))


def same_kind(dx, x, where):
    """Assert that the cotangent `dx` has the container, shape and precision of `x`."""
    if dx is None:
        return
    if isinstance(x, (list, tuple)):
        assert type(dx) is type(x), where
        assert len(dx) == len(x), where
        for d, part in zip(dx, x, strict=True):
            same_kind(d, part, where)
        return
    assert np.shape(dx) == np.shape(x), where
    if isinstance(x, np.ndarray):
        assert isinstance(dx, np.ndarray), where
    kind = np.asarray(x).dtype.kind
    assert np.asarray(dx).dtype.kind == ("c" if kind == "c" else "f"), where
    if kind in "fc":
        assert np.asarray(dx).dtype == np.asarray(x).dtype, where
    if type(x) is float:
        assert type(dx) is float, where


def call(f, *xs, **options):
    return f(*xs, **options) if callable(f) else f.__get__(*xs)


@pytest.fixture
def check():
    """Return a function that compares `rrule(f, *xs, **options)` to finite differences."""

    def check_rule(f, *xs, tolerance=1e-6, **options):
        rng = np.random.default_rng(7)
        before = None if any(type(x) is np.flatiter for x in xs) else copy.deepcopy(xs)
        found = rrule(f, *xs, **options)
        assert found is not None, "no rule"
        y, back = found
        expected = call(f, *xs, **options)
        assert type(y) is type(expected)
        for a, b in zip(leaves(y), leaves(expected), strict=True):
            if isinstance(b, str):
                assert a == b
            elif not isinstance(b, np.flatiter):
                np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12)
        assert back(None) == (None,) * (len(xs) + 1)
        dy = cotangent_for(y, rng)
        dy_before = copy.deepcopy(dy)
        cotangents = back(dy)
        assert len(cotangents) == len(xs) + 1
        assert cotangents[0] is None
        again = back(dy)
        if dy is None:
            assert all(d is None for d in cotangents)
            return
        for position, x in enumerate(xs):
            dx = cotangents[position + 1]
            where = f"argument {position + 1}"
            same_kind(dx, x, where)
            for a, b in zip(leaves(dx), leaves(again[position + 1]), strict=True):
                np.testing.assert_array_equal(a, b)
            direction = direction_for(x, rng)
            if direction is None:
                continue
            got = inner(dx, direction)
            differences = []
            for step in STEPS:
                up, down = [
                    inner(
                        dy,
                        call(
                            f,
                            *xs[:position],
                            moved(x, direction, h),
                            *xs[position + 1 :],
                            **options,
                        ),
                    )
                    for h in (step, -step)
                ]
                differences.append((up - down) / (2 * step))
            scale = max(1.0, abs(got))
            assert any(abs(d - got) <= tolerance * scale for d in differences), (
                f"{where}: rule {got}, finite differences {differences}"
            )
        for a, b in zip(leaves((xs, dy)), leaves((before or xs, dy_before)), strict=True):
            if isinstance(a, (np.ndarray, float, complex)):
                np.testing.assert_array_equal(a, b)

    return check_rule


def pytest_generate_tests(metafunc):
    """Give a test that asks for an `example` those of the rule module that its file mirrors."""
    if "example" in metafunc.fixturenames:
        path = Path(metafunc.definition.path).relative_to(Path(__file__).parent)
        module = ".".join((*path.parts[:-1], path.stem.removeprefix("test_")))
        examples = importlib.import_module(f"rules_base.{module}").rule.examples
        ids = [f"{name_of(f)}-{i}" for i, (f, _, _) in enumerate(examples)]
        metafunc.parametrize("example", examples, ids=ids)


def on_examples(examples):
    """Make a check `(..., f, xs, options)` a test for each module: it runs on all its examples.

    A test for each example, or function, would cost more than what it does. The ids of examples
    begin with the name of the module, or plugin. Other parameters are fixtures.
    """
    groups = {}
    for example in examples:
        groups.setdefault(example.id.partition("-")[0], []).append((example.id, *example.values))

    def decorate(check):
        names = [n for n in inspect.signature(check).parameters if n not in ("f", "xs", "options")]

        @pytest.mark.parametrize("group", groups.values(), ids=list(groups))
        def test(group, **fixtures):
            for name, f, xs, options in group:
                try:
                    check(**fixtures, f=f, xs=xs, options=options)
                except BaseException as error:
                    error.add_note(f"in example {name}: {xs} {options}")
                    raise

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        test.__signature__ = inspect.Signature(
            [inspect.Parameter(n, kind) for n in ("group", *names)]
        )
        test.__name__ = check.__name__
        return test

    return decorate
