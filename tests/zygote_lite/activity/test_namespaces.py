"""Variables of modules and of threads that are written through a `__dict__`: followed or refused.

Read by name, such a variable would be a constant, and its gradient zero without an error.
"""

import operator
import sys
import threading
import types
from unittest import mock

import numpy as np
import pytest

from zygote_lite import DifferentiationError, grad, pullback


class OwnModule(types.ModuleType):
    pass


class OwnLocal(threading.local):
    pass


CONFIG, OWN = types.ModuleType("a_config"), OwnModule("own")
CONFIG.v, CONFIG.u, OWN.v = 0.0, np.zeros(2), 0.0
LOCAL, OWN_LOCAL = threading.local(), OwnLocal()


@pytest.fixture(autouse=True)
def as_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "a_config", CONFIG)


def by_import(x):
    vars(CONFIG)["v"] = x * x
    from a_config import v

    return v


def patched(x):
    with mock.patch.dict(CONFIG.__dict__, v=x * x):
        return CONFIG.v


def by_a_getter(x):
    operator.setitem(vars(CONFIG), "v", x * x)
    return operator.attrgetter("v")(CONFIG)


def of_an_array(x):
    vars(CONFIG)["u"] = np.array([x * x, x])
    return CONFIG.u[0]


def in_a_list(x):
    held = [CONFIG.__dict__]
    held[0]["v"] = x * x
    return CONFIG.v


def joined(x):
    variables = CONFIG.__dict__
    variables |= {"v": x * x}
    return CONFIG.v


def of_a_subclass(x):
    OWN.__dict__["v"] = x * x
    return OWN.v


def of_builtins(x):
    vars(sys).setdefault("a_name_of_no_other", x * x)
    return sys.a_name_of_no_other


def of_a_thread(x):
    LOCAL.__dict__["a"] = x * x
    return LOCAL.a


def updated_for_a_thread(x):
    vars(LOCAL).update(a=x * x)
    return getattr(LOCAL, "a", 0.0)


def of_a_subclass_for_a_thread(x):
    OWN_LOCAL.a = x * x
    return vars(OWN_LOCAL)["a"]


WRITTEN = [
    by_import, patched, by_a_getter, of_an_array, in_a_list, joined, of_a_subclass, of_builtins,
    of_a_thread, updated_for_a_thread, of_a_subclass_for_a_thread,
]  # fmt: skip


@pytest.mark.parametrize("f", WRITTEN)
def test_what_is_written_through_the_dict_is_not_lost(f):
    for _ in range(4):
        with pytest.raises(DifferentiationError, match=r"\[ZL019\]$"):
            grad(f)(1.3)
    assert CONFIG.v == OWN.v == 0.0
    assert not np.any(CONFIG.u)
    assert not hasattr(sys, "a_name_of_no_other")


def test_constants_may_be_written_and_a_variable_of_a_thread_is_followed():
    def constant(x):
        vars(CONFIG)["v"] = 3.0
        LOCAL.__dict__["b"] = 2.0
        return x * CONFIG.v * LOCAL.b

    def plain(x):
        LOCAL.a = x * x
        return LOCAL.a * x

    for _ in range(4):
        assert grad(constant)(1.5) == 6.0
        assert grad(plain)(2.0) == 12.0
    vars(CONFIG)["v"] = 0.0


def test_a_function_that_knows_the_module_as_a_global_variable_is_refused():
    made = types.ModuleType("made")

    def read():
        global known  # of the variables that are given below
        return known.v

    reader = types.FunctionType(read.__code__, {"__builtins__": __builtins__, "known": made})

    def f(x):
        vars(made)["v"] = x * x
        return reader()

    with pytest.raises(DifferentiationError, match=r"\[ZL019\]$"):
        pullback(f, 1.3)[1](1.0)
