"""What the table of traits says of functions is seen when they run, without contradictions."""

import copy
import dataclasses
import itertools
import math
import operator
import warnings

import numpy as np
import pytest

from zygote_lite import gradient
from zygote_lite._activity.saved import is_writer
from zygote_lite._ir import traits
from zygote_lite._ir.traits import TRAITS, Traits, declare, is_elementwise, is_pure, traits_of
from zygote_lite._tape.arguments import out_position
from zygote_lite.testing import compared

A = np.array([[3.0, 1.0], [2.0, 4.0]])
ARGUMENTS = [
    (A,), (A, A + 1.0), (A, 1), (A, 0, 1), (A, (4,)), (A, (2, 2)), ((2, 2),), (3,), (1.5,),
    (2.5, 2), (4, 2), ((2, 2), 1.5), (0.0, 1.0, 5), ([3.0, 1.0],), ([3.0, 1.0], [1.0, 2.0]),
    ("ab",), (A > 1.0,), (A > 1.0, A, A + 1.0), (1.5, float), ({"a": 1.0},),
]  # fmt: skip


def with_trait(name):
    return sorted((f for f, known in TRAITS.items() if getattr(known, name)), key=repr)


def name_of(f):
    return "operator.abs" if f is operator.abs else repr(f).partition(" at ")[0]


def each(name):
    return pytest.mark.parametrize("f", with_trait(name), ids=name_of)


def runs(f):
    """Return arguments, each as they were and as a call left them, and what the calls returned."""
    found = []
    for given in ARGUMENTS:
        count = f.nin if isinstance(f, np.ufunc) else 9
        if len(given) > count or out_position(f, len(given)) is not None:
            continue  # an array to write into, by position
        left = copy.deepcopy(given)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = f(*left)
        except Exception:  # these arguments are not for it
            continue
        found.append((given, left, result))
    return found


def is_same(a, b):
    return type(a) is type(b) and repr(a) == repr(b)


def test_no_function_has_traits_that_contradict_each_other():
    changing = {"writes"}
    alone = [{"pure", "harmless"}, {"view", "may_be_view", "creates"}, {"view", "reduces"},
             {"reduces", "elementwise"}, {"elementwise", "view"}]  # fmt: skip
    quiet = {"pure", "harmless", "elementwise", "reduces", "view", "creates", "never_raises"}
    for f, known in TRAITS.items():
        has = {field.name for field in dataclasses.fields(known) if getattr(known, field.name)}
        assert not (has & changing and has & quiet), f
        assert all(len(has & names) <= 1 for names in alone), f
        assert not known.copies_shape or known.creates, f
        assert not known.calls_within or known.calls, f
        assert known.calls is None or known.calls <= traits.SPECIAL_METHODS, f


@pytest.mark.parametrize("f", [np.random.default_rng, np.random.rand, np.random.normal])
def test_what_gives_random_numbers_is_not_pure(f):
    assert not is_pure(f)


def test_both_paths_agree_on_what_writes():
    for f, known in TRAITS.items():
        assert is_writer(f, {}) == known.writes
        assert not (known.writes and is_pure(f)), f
        assert not (known.writes and getattr(f, "__name__", "") in traits.HARMLESS_METHODS), f
    assert not traits.HARMLESS_METHODS & traits._EFFECTS


def test_a_trait_is_declared_once():
    with pytest.raises(ValueError, match=r"len.* is declared twice: pure"):
        declare(len, pure=True)
    assert traits_of(len).pure
    assert traits_of([]) == Traits()


def test_pure_functions_leave_their_arguments():
    array = [getattr(np, name) for name in np.__all__]
    array += [getattr(np.ndarray, name) for name in dir(np.ndarray)]
    array = [f for f in array if callable(f) and is_pure(f)]
    assert len(array) > 300
    for f in (*with_trait("pure"), *array):
        for given, left, _ in runs(f):
            assert is_same(given, left), f


def test_a_reduction_of_a_ufunc_takes_the_first_axis():
    def f(x, w):
        return np.sum(np.add.reduce(x * A) * w)

    with compared():
        for _ in range(3):
            dx, dw = gradient(f, np.ones((2, 2)), np.array([5.0, 7.0]))
            assert np.array_equal(dx, A * [5.0, 7.0])
            assert np.array_equal(dw, [5.0, 5.0])


SETTINGS = {
    "errors": lambda n: np.seterr(over=["warn", "ignore"][n]),
    "buffer": lambda n: np.setbufsize([8192, 16][n]),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_depends_on_settings_of_numpy_is_asked_at_each_call(setting):
    def f(x):
        return x * np.getbufsize() * (3.0 if np.geterr()["over"] == "ignore" else 2.0)

    before = np.geterr(), np.getbufsize()
    try:
        for n in (0, 0, 0, 0, 1, 1, 0):
            SETTINGS[setting](n)
            assert gradient(f, 1.5) == (f(1.0),)
    finally:
        np.seterr(**before[0])
        np.setbufsize(before[1])


@each("writes")
def test_writers_change_their_first_argument(f):
    a = np.array([3.0, 1.0])
    bits = np.array([5, 1])
    tries = [
        ([3, 1, 2],), ([3, 1, 2], 3), ([3, 1, 2], [3]), ([3, 1, 2], 0),
        ([3, 1, 2], 0, 7), ([1, 3, 2], 5), ({1: 2},), ({1: 2}, 1),
        ({1: 2}, {2: 3}), ({1: 2}, 3, 4), ({1, 2},), ({1, 2}, 1), ({1, 2}, 7), ({1, 2}, {7}),
        (a, 2.0), (a,), (a, 0, 7.0), (bits, 3), (A, A + 1.0), (lambda: None, "name", 1),
        ([1, 2, 3],), (a, a > 2.0, np.array([7.0])),
    ]  # fmt: skip
    changed = False
    for given in tries:
        left = copy.deepcopy(given)
        if f is delattr:
            left = (lambda: None, "name")
            left[0].name = 1
        before = repr(left[0]), repr(getattr(left[0], "__dict__", None))
        try:
            f(*left)
        except (TypeError, ValueError, AttributeError, KeyError, IndexError):
            continue
        changed |= before != (repr(left[0]), repr(getattr(left[0], "__dict__", None)))
    assert changed


@each("view")
def test_views_share_memory(f):
    shared = [np.shares_memory(left[0], y) for _, left, y in runs(f)
              if isinstance(left[0], np.ndarray) and isinstance(y, np.ndarray)]  # fmt: skip
    assert shared
    assert all(shared)


@each("creates")
def test_creating_functions_share_nothing(f):
    found = runs(f)
    assert found
    for given, left, y in found:
        again = f(*left)
        assert not np.may_share_memory(y, again)
        assert not any(np.may_share_memory(x, y) for x in left if isinstance(x, np.ndarray))
        if traits_of(f).copies_shape and len(given) == 1:
            assert y.shape == np.shape(given[0])


@each("elementwise")
def test_elementwise_functions_broadcast(f):
    tries = [(x,) for x in (A, A > 1.0)]
    tries += [(x, y) for x, y in itertools.product((A, A > 1.0), (A[0], A[0] > 1.0))]
    tries += [(A > 1.0, A[0], A)]
    shapes = set()
    for xs in tries:
        try:
            with np.errstate(all="ignore"):
                shapes.add(f(*xs).shape)
        except (TypeError, AttributeError, ValueError):
            continue
    assert shapes == {A.shape}
    assert is_elementwise(f)


@each("reduces")
def test_reductions_take_axes_away(f):
    assert np.shape(f(A, axis=None)) == ()
    assert f(A, axis=0).shape == (2,)


SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7e308, -3.5]


@each("never_raises")
def test_what_never_raises_on_floats(f):
    count = 1 if f is operator.neg else 2
    for xs in itertools.product(SPECIAL, repeat=count):
        assert type(f(*xs)) is float  # warnings are errors


@each("shows_nonfinite")
def test_a_nan_or_an_infinity_is_seen_in_the_result(f):
    for bad in (math.nan, math.inf, -math.inf):
        for other in SPECIAL:
            for xs in ((bad, other), (other, bad), (bad,)):
                arrays = [np.full((2, 2), x) for x in xs]
                for given in (xs, arrays):
                    if f is np.sum or f is np.ndarray.sum or f is np.ndarray.copy:
                        given = given[:1] if xs[0] is bad else [np.array([*xs])]
                    try:
                        with np.errstate(all="ignore"):
                            y = f(*given)
                    except (TypeError, ValueError):
                        continue
                    assert not np.all(np.isfinite(y))


def test_functions_that_are_known_to_be_harmless_may_be_called_by_special_methods():
    class Key:
        def __init__(self, name):
            self.name = name

        def __hash__(self):
            return hash(self.name.removeprefix("a")[slice(0, 1)])

        def __eq__(self, other):
            return self.name == other.name

    def f(x, key):
        return {key: x * x}[Key("ab")]

    for _ in range(3):
        assert gradient(f, 3.0, Key("ab"))[0] == 6.0
