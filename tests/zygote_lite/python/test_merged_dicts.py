"""Dicts of user classes that others are made of: by the entries in C, or by `__getitem__`."""

import collections
import functools

import pytest

from zygote_lite import NoRuleError, value_and_grad


class Doubling(dict):
    def __getitem__(self, key):
        return super().__getitem__(key) * 2


class Walked(Doubling):
    def __iter__(self):
        return iter(["a", "b"])


class Ordered(collections.OrderedDict):
    def __getitem__(self, key):
        return super().__getitem__(key) * 2


class Plain(collections.OrderedDict):
    pass


def total(**entries):
    return sum(entries.values())


def updated(d):
    made = {"c": 1.0}
    made.update(d)
    made |= d
    return sum(made.values())


def left_over(d):
    match d:
        case {"a": first, **rest}:
            return first * 3.0 + sum(rest.values())


MADE = {
    "dict": lambda d: sum(dict(d).values()),
    "display": lambda d: sum({"c": 1.0, **d}.values()),
    "keywords": lambda d: total(**d),
    "partial": lambda d: functools.partial(total, **d)(),
    "update": updated,
    "copy": lambda d: sum(d.copy().values()),
    "OrderedDict": lambda d: sum(collections.OrderedDict(d).values()),
    "defaultdict": lambda d: sum(collections.defaultdict(float, d).values()),
    "of its class": lambda d: sum(type(d)(d).values()),
    "match": left_over,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", [Doubling, Walked, Ordered, Plain])
@pytest.mark.parametrize("name", MADE)
def test_entries_are_taken_as_python_takes_them(name, kind):
    def f(x):
        return MADE[name](kind(a=x, b=x * x))

    step = 1e-6
    want = (f(1.3 + step) - f(1.3 - step)) / (2 * step)
    for _ in range(3):
        if name == "copy" and kind in (Walked, Ordered):
            with pytest.raises(NoRuleError):
                value_and_grad(f)(1.3)
        else:
            assert value_and_grad(f)(1.3) == (pytest.approx(f(1.3)), pytest.approx(want))
