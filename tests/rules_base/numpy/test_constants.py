"""Functions through which no cotangent passes."""

import operator

import numpy as np
import pytest

from rulescore import rrule

CALLS = [
    (len, ([1.0],)),
    (isinstance, (1.0, float)),
    (range, (3,)),
    (repr, (1.0,)),
    (str, (1.0,)),
    (int, (2.7,)),
    (bool, (2.7,)),
    (type, (2.7,)),
    (operator.lt, (1.0, 2.0)),
    (operator.not_, (1.0,)),
    (np.floor, (np.array([1.5]),)),
    (np.shape, (np.ones(2),)),
    (np.zeros_like, (np.ones(2),)),
    (np.argmax, (np.ones(2),)),
    (np.random.default_rng, (0,)),
    (np.isnan, (np.ones(2),)),
]


@pytest.mark.parametrize(("f", "xs"), CALLS, ids=lambda p: getattr(p, "__name__", ""))
def test_no_cotangent_passes(f, xs):
    y, back = rrule(f, *xs)
    assert type(y) is type(f(*xs))
    assert back(1.0) == (None,) * (len(xs) + 1)


HOLDERS = [
    list,
    tuple,
    dict,
    set,
    iter,
    zip,
    enumerate,
    reversed,
    sorted,
    getattr,
    map,
    filter,
    next,
]
HOLDERS += [np.frombuffer, np.nditer, np.ndenumerate, np.ndarray.view]


@pytest.mark.parametrize("f", HOLDERS, ids=lambda f: f.__name__)
def test_what_can_return_its_argument_is_not_constant(f):
    xs = (np.ones(2),) if f not in (map, filter, getattr) else (f, np.ones(2))
    assert rrule(f, *xs) is None


def test_printing(capsys):
    y, back = rrule(print, 1.5, end="!")
    assert capsys.readouterr().out == "1.5!"
    assert y is None
    assert back(None) == (None, None)


def test_bit_operators_are_for_numbers():
    assert rrule(operator.or_, 5, 2)[0] == 7
    assert rrule(operator.or_, {1}, {2}) is None
    assert rrule(operator.lshift, [], 1) is None


FILES = [np.save, np.savetxt, np.savez, np.load, np.loadtxt, np.ndarray.tofile, np.fromfile]


@pytest.mark.parametrize("f", FILES, ids=lambda f: f.__name__)
def test_numbers_do_not_pass_through_files_unseen(f):
    assert rrule(f, np.ones(2), "there is no such file") is None
