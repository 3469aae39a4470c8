"""What libraries ask of objects from outside: names of attributes, classes, signatures, copies."""

import functools
import inspect

import numpy as np
import pytest

from zygote_lite import gradient, testing, value_and_grad

X = np.array([0.5, -1.5])
signature = functools.lru_cache(maxsize=4)(inspect.signature)


class Model:
    def __init__(self, slope=2.0, parts=()):
        self.slope, self.parts = slope, parts
        self.n_seen_ = 3
        self.opener = open  # nothing that code is made for

    def parameters(self):
        told = signature(self.__class__.__init__).parameters.values()
        return {p.name: getattr(self, p.name) for p in told if p.name != "self"}


class Other(Model):
    """A model of another class."""


def asks_for_names(model, x):
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("__")]
    longest = sorted(model.__dict__)[-1]
    return np.sum(x) * len(names) + x[0] * len(vars(model)) * ("slope" in vars(model)) * len(
        longest
    )


def asks_for_the_class(model, x):
    kind = model.__class__
    y = np.sum(x) * (2.0 if kind is Model else 5.0) * len(kind.__name__)
    return y if type(x).__module__ == "numpy" else 0.0 * y


def asks_for_what_is_not_there(model, x):
    try:
        y = model.late_ * np.sum(x)
    except AttributeError:
        y = np.sum(x * x) * model.slope
    return y if hasattr(x.shape, "__len__") and not hasattr(x.shape, "real") else x[0]


def asks_for_parameters(model, x):
    return np.sum(x) * model.parameters()["slope"] * len(signature(Model.__init__).parameters)


def depth_of(model):
    return 1 + sum([depth_of(part) for part in model.parts])


def goes_through_parts(model, x):
    return np.sum(x * x) * depth_of(model)


ASKING = [
    asks_for_names, asks_for_the_class, asks_for_what_is_not_there, asks_for_parameters,
    goes_through_parts,
]  # fmt: skip


def add(model):
    model.late_ = 3.0


def take_away(model):
    del model.n_seen_, model.opener


def change_class(model):
    model.__class__ = Other


def change_parts(model):
    model.parts = (Model(), Model(parts=(Model(),)))


CHANGES = (add, take_away, change_class, change_parts)


@pytest.mark.parametrize("asking", ASKING)
def test_what_is_asked_is_transformed_and_as_on_the_tape(asking):
    chain = Model(parts=(Model(parts=(Model(parts=(Model(parts=(Model(),)),)),)),))
    model = Model(parts=(chain,))

    def f(x):
        return asking(model, x)

    assert testing.why_recorded(f, X) is None
    for change in (None, *CHANGES):
        if change is not None:
            change(model)
        y = f(X)
        with testing.recorded_only():
            expected = gradient(f, X)[0]
        for _ in range(3):
            with testing.compared():
                assert value_and_grad(f)(X)[0] == y
            np.testing.assert_allclose(gradient(f, X)[0], expected, rtol=1e-15)
        step = 1e-6 * np.ones(2)
        slope = (f(X + step) - f(X - step)) / 2e-6
        np.testing.assert_allclose(np.sum(expected), slope, rtol=1e-8)


def test_names_of_an_object_whose_attributes_are_assigned_are_as_on_the_tape():
    model = Model()

    def f(x):
        before = len(vars(model))
        model.late_ = x * 2.0
        return model.late_ * before * len(vars(model))

    assert gradient(f, 1.5) == (2.0 * 4 * 5,)
    for _ in range(3):
        assert gradient(f, 1.5) == (2.0 * 5 * 5,)
        assert model.late_ == 3.0
    del model.late_
    assert gradient(f, 1.5) == (2.0 * 4 * 5,)


def test_a_dict_that_a_class_computes_is_left_to_the_tape():
    class Computed:
        __dict__ = property(lambda self: {"a": 1.0})

    shown = Computed()

    def f(x):
        return x * len(shown.__dict__)

    assert [gradient(f, 2.0) for _ in range(3)] == [(1.0,)] * 3
