"""Guards: tests of the arguments at entry, and a test that the gradients are finite."""

import math
import re

import numpy as np

from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.numba.compile import dtype_name, kind_name
from zygote_lite._specialize.typed.values import (
    MANY,
    ONE,
    ArrayOf,
    ListOf,
    Scalar,
    Value,
    parts_of,
    paths_of,
)


def is_finite(x: np.ndarray) -> bool:
    """Return whether all entries are finite."""
    if x.size < _LARGE_PRODUCT:
        return math.isfinite(np.vdot(x, x)) or bool(np.isfinite(x).all())
    return bool(np.isfinite(x).all())


_LARGE_PRODUCT = 100_000  # above this, a dot product may start threads
KINDS = (float, int, bool, str, tuple, list, dict, np.float64, np.float32, np.int64, np.int32,
         np.bool_)  # fmt: skip


def guards_of(name: str, x: Value, again: str = "") -> list[str]:
    """Return the tests that an argument must pass."""
    again = again or name
    if x.where is not None:  # among what is read from outside
        return []
    if x.items is not None:
        parts = parts_of(x)
        tests = [f"type({name}) is kind_{type(x.sample).__name__}", f"len({again}) == {len(parts)}"]
        if parts and type(x.sample) is dict:  # quickly, where they are the very same objects
            known = f"{again}, keys_{again}"
            tests.append(f"(all(map(is_, {known})) or are_keys({known}))")
        for i, (at, part) in enumerate(parts):
            tests += guards_of(f"({again}_{i} := {again}[{at}])", part, f"{again}_{i}")
        return tests
    if isinstance(x.fact, ListOf):
        rows = isinstance(x.fact.item, ListOf)
        number = x.fact.item.item if isinstance(x.fact.item, ListOf) else x.fact.item
        assert isinstance(number, Scalar)
        (kind,) = number.classes
        numbers = f"are_numbers({again}, {kind_name(kind)}, {rows})"
        return [f"type({name}) is list", numbers]
    if x.is_constant:
        return [f"type({name}) is type({x.sample!r})", f"{again} == {x.sample!r}"]
    if isinstance(x.fact, Scalar):
        (kind,) = x.fact.classes
        return [f"type({name}) is {kind_name(kind)}"]
    assert isinstance(x.fact, ArrayOf)
    tests = [f"type({name}) is ndarray", f"{again}.dtype is {dtype_name(x.fact.dtype)}"]
    axes = x.fact.axes
    if axes == (MANY,):  # the same, and quicker
        return [*tests, f"{again}.ndim == 1", f"len({again}) != 1"]
    shape = "s_" + re.sub(r"\W", "_", again)
    tests.append(f"len({shape} := {again}.shape) == {len(axes)}")
    if ONE not in axes:
        return [*tests, f"1 not in {shape}"]
    return tests + [
        f"{shape}[{i}] {'==' if axis == ONE else '!='} 1"
        for i, axis in enumerate(axes)
        if axis in (ONE, MANY)
    ]


def keys_in(x: Value, name: str) -> dict[str, tuple[str, ...]]:
    """Return the keys of all dicts in an argument, by the names that its guards have for them."""
    found = {f"keys_{name}": tuple(x.sample)} if type(x.sample) is dict else {}
    for i, (_, part) in enumerate(parts_of(x)):
        found |= keys_in(part, f"{name}_{i}")
    return found


def checks_of(made: Specialized, active: tuple[bool, ...]) -> list[str]:
    """Return the tests that the gradients must pass: they are finite, where that matters."""
    if made.exact:
        return []
    checks = []
    given = iter(made.gradients)
    for i, (x, flag) in enumerate(zip(made.arguments, active, strict=True)):
        if not flag:
            continue
        for path, leaf in paths_of(x, f"d{i}"):
            if not leaf.active:
                continue
            d = next(given)
            if d is None or isinstance(leaf.fact, ListOf):  # `list_cotangent` has looked
                continue
            if not isinstance(leaf.fact, ArrayOf):
                checks.append(f"isfinite({path})")
            elif d in made.telling:
                quick = f"isfinite(vdot({path}, {path})) or " if np.size(d.sample) < 256 else ""
                checks.append(f"({quick}finite({path}))")
    return checks


def lists_in(x: Value, path: str) -> list[str]:
    """Return the expressions of all lists and dicts in an argument."""
    if isinstance(x.fact, ListOf):
        return [path, f"*{path}"] if isinstance(x.fact.item, ListOf) else [path]
    inner = [p for at, part in parts_of(x) for p in lists_in(part, f"{path}[{at}]")]
    return [path, *inner] if isinstance(x.sample, list | dict) else inner
