"""Copies by `copy`: objects that say themselves how they are made anew are refused, or followed."""

import copy

import pytest

from zygote_lite import DifferentiationError, gradient


class Made:
    def __new__(cls, a=1.0):
        made = object.__new__(cls)
        made.a = a
        return made

    def __getnewargs_ex__(self):
        return (), {"a": self.a}

    def __setstate__(self, state):
        pass  # all is known by then


class Lost(Exception):
    pass


class Slotted(list):
    __slots__ = ("weight",)


def slotted(x):
    found = Slotted([x])
    found.weight = x
    return found


@pytest.mark.parametrize("make", [Made, Lost, slotted])
def test_what_says_itself_how_it_is_copied_is_refused(make):
    def f(x):
        copied = copy.copy(make(x * x))
        return getattr(copied, "a", None) or copied.args[0]

    with pytest.raises(DifferentiationError, match="__reduce_ex__"):
        gradient(f, 2.0)
