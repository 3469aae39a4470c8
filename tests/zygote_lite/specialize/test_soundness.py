"""What specialized code cannot know, it leaves: the third call answers as the first did."""

import functools
import math
import operator
import types
import warnings

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import (
    answers,
    assert_agreement,
    generic_only,
    is_specialized,
)
from zygote_lite import export_adjoint, gradient, testing, value_and_grad
from zygote_lite._specialize.typed import plugins as _plugins

CALLS = 8


def answers_as(f, *xs, begin):
    """Compare a row of answers with those of the tape, each row begun afresh."""
    rows = []
    for keep in (generic_only, None):
        begin()
        differentiated = value_and_grad(f)
        if keep is None:
            rows.append([differentiated(*xs) for _ in range(CALLS)])
            continue
        with keep():
            rows.append([differentiated(*xs) for _ in range(CALLS)])
    assert rows[0] == rows[1]


# -- arguments -----------------------------------------------------------------------------------


def in_a_loop(x):
    s = 0.0
    for v in x:
        s += v * v
    return s


WHOLE = {
    "entries": in_a_loop,
    "entry": lambda x: x[0] * 2.0,
    "clip": lambda x: np.sum(np.clip(x, 0.5, 1.5)),
    "norm": lambda x: np.linalg.norm(x),
    "quotient": lambda x: np.sum(x / 2.0),
}


@pytest.mark.parametrize("name", WHOLE)
def test_an_array_of_integers_has_a_gradient(name):
    assert_agreement(WHOLE[name], (np.array([1, 2, 3]),), (np.array([1.0, 2.0, 3.0]),))
    assert value_and_grad(WHOLE[name])(np.array([1, 2, 3]))[1] is not None


def test_a_list_that_a_rule_makes_an_array_of():
    assert_agreement(lambda x: np.linalg.norm(x), ([1.0, 2.0],), ((1.0, 2.0),))


def first_of_first(t, y):
    return t[0][1] * y


@pytest.mark.parametrize("t", [((1.0, 2.0), 3.0), [[1.0, 2.0], 3.0], ([1.0, 2.0], (3.0, "a"))])
@pytest.mark.parametrize("f", [first_of_first, lambda t, y: y * 2.0])
def test_a_structure_that_no_gradient_reaches_has_none(f, t):
    assert assert_agreement(f, (t, 2.0), (t, 3.0))


# -- numbers of other classes, which may have attributes -----------------------------------------


class Whole(int):
    k = 2.0


class Text(str):
    k = 2.0


class Number(float):
    k = 2.0


class Holder:
    number = Number(1.5)


whole, text, several = Whole(3), Text("text"), (Whole(3), Number(2.0))
ATTRIBUTES = {
    "int": (lambda x: x * whole.k * whole, whole),
    "str": (lambda x: x * text.k, text),
    "float": (lambda x: x * Holder.number.k * Holder.number, Holder.number),
    "in a tuple": (lambda x: x * several[0].k * several[1], several[0]),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_of_numbers_and_texts_change(name):
    f, owner = ATTRIBUTES[name]
    owner.k = 2.0
    assert_agreement(f, (2.0,))
    before = value_and_grad(f)(2.0)
    owner.k = 5.0
    assert_agreement(f, (2.0,))
    assert value_and_grad(f)(2.0) != before


# -- what is computed where it is read -----------------------------------------------------------


class Counting(type):
    reads = 0

    @property
    def rate(cls):
        Counting.reads += 1
        return Counting.reads % 7


class Counted(metaclass=Counting):
    pass


class Descriptor:
    reads = 0

    def __get__(self, owner, kind=None):
        Descriptor.reads += 1
        return Descriptor.reads % 7


class Described:
    rate = Descriptor()


lazy = types.ModuleType("lazy")
lazy.reads = [0]


def _computed(name):
    if name != "rate":
        raise AttributeError(name)
    lazy.reads[0] += 1
    return lazy.reads[0] % 7


lazy.__getattr__ = _computed
READ = {
    "metaclass": (lambda x: x * Counted.rate + Counted.rate,
                  lambda: setattr(Counting, "reads", 0)),
    "descriptor": (lambda x: x * Described.rate + Described.rate,
                   lambda: setattr(Descriptor, "reads", 0)),
    "module": (lambda x: x * lazy.rate + lazy.rate, lambda: lazy.reads.__setitem__(0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_attributes_are_computed_as_often_as_before(name):
    f, begin = READ[name]
    answers_as(f, 2.0, begin=begin)


def test_functions_made_into_ufuncs_are_called_as_often_as_before():
    seen = []

    def noted(x):
        seen.append(x)
        return x * 2.0 + len(seen)

    ufunc = np.frompyfunc(noted, 1, 1)
    answers_as(lambda x: x * (ufunc(3.0) + ufunc(3.0)), 2.0, begin=seen.clear)


class Positive(type):
    def __instancecheck__(cls, x):
        return x > 0


class IsPositive(metaclass=Positive):
    pass


def test_a_class_that_says_itself_what_its_instances_are():
    assert_agreement(lambda x: x * 2 if isinstance(x, IsPositive) else x * 3, (2.0,), (-2.0,))


def test_a_class_that_is_registered():
    import abc

    class Registered(abc.ABC):
        pass

    def f(x):
        return x * 2 if isinstance(x, Registered) else x * 3

    assert assert_agreement(f, (2.0,))
    Registered.register(float)
    assert assert_agreement(f, (2.0,))
    assert value_and_grad(f)(2.0) == (4.0, 2.0)


# -- `sum` keeps what rounding loses, from Python 3.12 on ----------------------------------------

SUMS = {
    "constants": lambda x: sum([0.1] * 10) * 1e16 * x - 1e16 * x,
    "tuple": lambda x: sum((1e16, 1.0, -1e16)) * x,
    "terms": lambda x: sum([1e16, x, -1e16]) * x,
    "start": lambda x: sum((x, x * x, 1, -1e16), 1e16) * x,
    "short": lambda x: sum([x, x * 3]) * x,
}


@pytest.mark.parametrize("name", SUMS)
def test_sums(name):
    f = SUMS[name]
    assert assert_agreement(f, (1.0,), (2.0,), (np.float64(3.0),), (3,))
    differentiated = value_and_grad(f)
    for _ in range(4):
        assert differentiated(1.0)[0] == f(1.0)
    assert is_specialized(f)


@pytest.mark.parametrize("n", [2, np.int64(2)])
@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), np.array([3.0]), np.ones(2, np.float32)])
def test_an_integer_among_arrays(n, x):
    assert_agreement(lambda x, n: np.sum(x / n), (x, n), tolerance=1e-6)
    assert_agreement(lambda x, n: np.sum(np.maximum(x, n) * x), (x, n), tolerance=1e-6)


def test_the_compiled_gradient_of_numpys_integer_is_numpys():
    pytest.importorskip("numba")
    f = lambda x: x * 0.5 * x
    compiled = value_and_grad(f, compile=True)
    answers = [compiled(np.int64(3)) for _ in range(3)]
    assert answers == [(4.5, 3.0)] * 3
    assert [type(d) for _, d in answers] == [np.float64] * 3


@pytest.mark.parametrize("nothing", [(), [], ((), 1.0)])
def test_an_empty_structure(nothing):
    f = lambda t, x: x * x * (1 + len(t))
    assert assert_agreement(f, (nothing, 2.0), (nothing, 3.0))
    space = {}
    exec(export_adjoint(f, nothing, 2.0, argnums=(1,)), space)
    exported = space["lambda__value_and_gradient"](nothing, 2.0)
    assert exported == value_and_grad(f, (1,))(nothing, 2.0)


def test_a_wrapper_made_for_each_call_is_answered_by_specialized_code():
    def f(x, y):
        return x * y + np.sin(x)

    want = value_and_grad(f, (0, 1))(0.5, 2.0)
    for _ in range(3):
        assert value_and_grad(f, (0, 1))(0.5, 2.0) == want
    with testing.observed() as answers:
        assert value_and_grad(f, (0, 1))(0.5, 2.0) == want
    assert [answer.tier for answer in answers] == ["transformed"]


def test_entries_named_by_tuples_may_repeat():
    def writes(x, v):
        y = x.copy()
        y[((0, 0), (1, 1))] = v
        return np.sum(y * y)

    def reads(x):
        return np.sum(x[((0, 0), (1, 1))] ** 2)

    x, v = np.ones((3, 3)), np.array([2.0, 3.0])
    for _ in range(4):
        dx, dv = gradient(writes, x, v)
        np.testing.assert_array_equal(dv, [0.0, 6.0])
        assert dx[0, 1] == 0.0
        (dx,) = gradient(reads, x)
        assert dx[0, 1] == 4.0


def test_a_tuple_inside_an_index_names_entries_and_no_axes():
    def reads(x):
        return np.sum(x[(0, 1), (1, 1)] ** 2) + np.sum(x[(0, 1),] ** 2)

    def writes(x, v):
        y = x.copy()
        y[(0, 1), (1, 1)] = v
        return np.sum(y * y * x)

    x, v = np.random.default_rng(0).normal(size=(2, 2, 2, 2)), np.array([2.0, 3.0])
    assert assert_agreement(reads, (x,), (x[0, 0],))
    assert_agreement(writes, (x[0, 0], v), (x, v))


def test_large_gradients_are_looked_at_without_a_warning():
    def f(x):
        return np.sum(np.exp(x) * x)

    x = np.array([1.0, 690.0, 3.0])
    differentiated = value_and_grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = [differentiated(x)[1].tolist() for _ in range(4)]
    assert answers[1:] == answers[:1] * 3


def positive_twice(p):
    if p > 0:
        r = p * 2.0
    return r


def sum_of_calls(x):
    s = 0.0
    for i in range(3):
        s = s + positive_twice(x[i])
    return s


def sum_of_inner_calls(x):
    def twice(p):
        if p > 0:
            r = np.ones(2) * p
        return np.sum(r)

    s = 0.0
    for i in range(3):
        s = s + twice(x[i])
    return s


def kept_for_nothing(x):
    for i in range(3):
        if x[i] < 0:
            break
        last = i
    kept = last  # noqa: F841 - who reads it meets the error
    return np.sum(x)


def called_for_nothing(x):
    for v in x:
        positive_twice(v)
    return np.sum(x)


@pytest.mark.parametrize(
    "f", [sum_of_calls, sum_of_inner_calls, kept_for_nothing, called_for_nothing]
)
def test_a_variable_of_a_function_has_no_value_of_an_earlier_call(f):
    assert assert_agreement(f, (np.array([1.0, 2.0, 3.0]),), (np.array([-1.0, -2.0, 3.0]),))
    with pytest.raises(UnboundLocalError):
        value_and_grad(f)(np.array([-1.0, -2.0, 3.0]))
    assert_agreement(f, (np.array([1.0, 2.0, 3.0]),), (np.array([1.0, -2.0, 3.0]),))


def test_an_attribute_of_an_array_may_come_last_in_a_branch():
    def f(x, k):
        if k > 2:
            y = np.zeros_like(x)
            for i in range(k):
                if x[0, 0] < i:
                    break
            np.transpose(y).T
        return np.sum(x * x)

    x = np.ones((2, 3))
    assert assert_agreement(f, (x, 3), (x, 1), argnums=(0,))


# -- names that see what comes later -------------------------------------------------------------


def in_a_list(x):
    kept = []
    for i in range(3):

        def times(v):
            return v * i

        kept.append(times)
    return kept[0](x[0]) + kept[1](x[1])


def from_the_first_turn(x):
    s = 0.0
    for i in range(3):
        if i == 0:

            def times(v):
                return v * i

        s += times(x[0])
    return s


def in_a_tuple(x):
    kept = ()
    for i in (1, 2, 3):
        kept = (*kept, lambda v: v * i)
    return kept[0](x[0]) * x[1]


@pytest.mark.parametrize("f", [in_a_list, from_the_first_turn, in_a_tuple])
def test_a_function_made_in_a_loop_sees_the_last_turn(f):
    assert_agreement(f, (np.array([1.0, 2.0]),), (np.array([3.0, -2.0]),))


TUPLES = {
    "broadcast": lambda y: np.broadcast_arrays(y, y),
    "as they are": lambda y: np.atleast_1d(y, y),
    "axes": lambda y: np.ix_(y),
    "grid": lambda y: np.meshgrid(y, y, copy=False),
    "rows": lambda y: tuple(y.reshape(1, 3)),
    "parts": lambda y: np.split(y, [1]),
}


@pytest.mark.parametrize("name", TUPLES)
def test_a_view_inside_a_tuple_sees_what_is_written_later(name):
    testing.forget()
    views = TUPLES[name]

    def f(x):
        y = np.zeros(3)
        first = views(y)[0]
        y[0] = x[0] * 2.0
        return np.sum(first) * x[1]

    assert_agreement(f, (np.array([1.0, 2.0]),), (np.array([3.0, -2.0]),))


@pytest.mark.parametrize("name", ["as they are", "rows"])
def test_what_comes_out_of_a_tuple_is_not_changed_as_if_it_were_new(name):
    testing.forget()
    views = TUPLES[name]

    def f(x, w):
        first = views(w)[0]
        first += 1.0
        return np.sum(w * x)

    x, w = np.array([1.0, 2.0, 4.0]), np.array([3.0, -2.0, 1.0])
    assert_agreement(f, (x, w), argnums=(0,))


# -- what is gone through once, and what changes meanwhile ---------------------------------------


def twice_through_arrays(x):
    pairs = zip(x, x)
    s = 0.0
    for a, b in pairs:
        s += a * b
    for a, _ in pairs:
        s += a
    return s


def twice_through_a_list(x):
    back = reversed([x[0], x[1]])
    s = 0.0
    for a in back:
        s = s * 2.0 + a
    for a in back:
        s += a
    return s


def sums_twice(pairs):
    s = 0.0
    for _, a in pairs:
        s = s * 2.0 + a
    for i, a in pairs:
        s += a * i
    return s


def given_to_a_function(x):
    return sums_twice(enumerate([x[0], x[1]]))


def empty_and_true(x):
    return x[0] if zip([], []) else x[1]


def grows_afterwards(x):
    kept = [x[0], x[1]]
    numbered = enumerate(kept)
    kept.append(x[0] * x[1])
    s = 0.0
    for i, a in numbered:
        s += a * i
    return s


def grows_meanwhile(x):
    kept = [x[0], x[1]]
    s = 0.0
    for i, a in enumerate(kept):
        if i < 2:
            kept.append(a * 2.0)
        s += a * i
    return s


ITERATORS = [
    twice_through_arrays,
    twice_through_a_list,
    given_to_a_function,
    empty_and_true,
    grows_afterwards,
    grows_meanwhile,
]


@pytest.mark.parametrize("f", ITERATORS)
def test_an_iterator_is_gone_through_once_and_sees_what_is_there(f):
    assert_agreement(f, (np.array([0.3, -0.5]),), (np.array([2.0, 4.0]),))


def test_numbers_of_rows_that_were_written_over_may_repeat():
    def f(x):
        rows = np.arange(3)
        rows[1] = 0
        taken = np.outer(x, x)[rows, np.array([1, 1, 2])]
        return np.sum(taken * taken)

    assert assert_agreement(f, (np.array([0.3, -0.5, 0.9]),), (np.array([1.0, 2.0, 4.0]),))


def test_a_list_that_holds_itself_is_left_to_the_generic_engine():
    held = [3.0]
    held.append(held)
    differentiated = value_and_grad(lambda x, held: x * held[0])
    assert [differentiated(2.0, held) for _ in range(3)] == [(6.0, 3.0)] * 3


@pytest.mark.parametrize("options", [(np.float32,), (None, "C", True, (2,))])
def test_zeros_like_another_array_of_another_kind(options):
    def f(x):
        z = np.zeros_like(x, *options)
        z[:2] = x[:2]
        return np.sum(z / 3.0) * np.sum(z * z)

    assert_agreement(f, (np.array([0.3, -0.5, 0.9]),), tolerance=1e-6)


def of_a_full_array(x, n):
    s = 0.5 if n > 1 else 1
    y = np.full(x.shape, s)
    y[0] = x[0] * 1.5
    return np.sum(y * x)


def of_a_choice(x, n):
    s = 0.5 if n > 1 else 1
    w = np.where(x > 0, s, 0)
    w += x
    return np.sum(w * x)


def of_single_precision(x, n):
    s = 1.0 if n > 1 else np.float64(0.5)
    return np.sum((x * s) / 3)


@pytest.mark.parametrize(
    ("f", "dtype"),
    [(of_a_full_array, float), (of_a_choice, float), (of_single_precision, np.float32)],
)
def test_an_array_whose_dtype_is_that_of_a_number(f, dtype):
    x = np.array([0.3, -0.5, 0.9], dtype)
    assert assert_agreement(f, (x, 2), (x, 1), (x, 3), argnums=(0,), tolerance=1e-6)


def test_what_one_path_computes_going_back_is_computed_again_after_it():
    def f(x, k):
        u = x * 1.5
        y = np.cumsum(u)
        r = np.sum(u) if k > 2 else 1.0
        return r + np.sum(y * y)

    x = np.array([0.3, -0.5, 0.9])
    assert assert_agreement(f, (x, 3), (x, 1), argnums=(0,))
    assert answers(f, (x, 3))
    assert answers(f, (x, 1))


# -- rules of the user's own ---------------------------------------------------------------------


def scaled(x):
    return x * 2.0


def logarithm(x):
    return math.log(abs(x)) if x else 0.0


def test_a_rule_is_called_as_often_as_the_generic_engine_calls_it(rules):
    seen = []

    @rules(scaled)
    def _(x: float):
        seen.append(x)

        def pullback(dy):
            seen.append(dy)
            return (2.0 * dy + len(seen),)

        return x * 2.0, pullback

    answers_as(lambda x: scaled(x) + x, 1.5, begin=seen.clear)


def test_a_rule_whose_cotangent_is_none_for_some_values(rules, monkeypatch):
    """Of a plugin, such a rule is called as it is; here its module passes for one."""
    monkeypatch.setattr(_plugins, "_packages", lambda installed: {__name__.partition(".")[0]})

    @rules(logarithm)
    def _(x: float):
        def pullback(dy):
            try:
                return (dy / x,)
            except ZeroDivisionError:
                return (None,)

        return logarithm(x), pullback

    assert assert_agreement(lambda x: logarithm(x) + x * x, (0.0,), (2.0,), (0.0,))


# -- one array under two names -------------------------------------------------------------------


def test_a_cotangent_that_has_its_shape_already_is_not_added_to():
    """Of parts of unknown length only the run tells whether they were broadcast."""

    def f(x, y, i, j, k):
        a, b = x[i:j], y[:k]
        t = np.sort(a) * b
        return np.sum(t * t) + np.sum((a + b) * 1.5) * np.sum(t)

    x, y = np.array([0.3, 0.5, 0.2, 0.1, 0.7]), np.array([0.4, 0.6, 0.9])
    for first in [(1, 4, 1), (1, 2, 3), (1, 4, 3)]:
        sets = [(x, y, *first), (x, y, 0, 3, 3), (x, y, 1, 3, 2), (x, y, 2, 3, 1)]
        assert assert_agreement(f, *sets, argnums=(0, 1))


def walked_in_a_list(x):
    y = x * 2.0
    s = 0.0
    for v in [x, y]:
        y += 1.0
        s += np.sum(v * x)
    return s


def walked_beside_another(x):
    y = x * 2.0
    s = 0.0
    for v, k in zip((x, y), (1, 2)):
        y *= k + 1
        s += np.sum(v * x)
    return s


def chosen(x):
    y = x * 2.0
    z = y if x[0] > 0 else x
    y += 1.0
    return np.sum(z * x)


def kept_by_a_branch(x):
    y = x * 2.0
    z = x
    if x[0] > 0:
        z = y[1:]
    y += 1.0
    return np.sum(z) * x[0]


def mask(x):
    m = x > 0.0
    kept = m
    m &= x < 1.0
    return np.sum(x * x * kept)


def bits(x):
    m = np.array([1, 2, 4])
    kept = m
    m <<= 1
    m |= 1
    m ^= 3
    return np.sum(x * x * kept)


def operator_by_name(x):
    y = x * 2.0
    operator.iadd(y, x)
    return np.sum(y * x)


def operator_by_another_name(x):
    y = x * 2.0
    for f in (operator.isub, operator.imul):
        f(y, x)
    return np.sum(y * x)


def operator_given_on(x):
    y = x * 2.0
    total = functools.reduce(operator.iadd, [x, x * x], y)
    return np.sum(y * total)


@pytest.mark.parametrize(
    "f",
    [walked_in_a_list, walked_beside_another, chosen, kept_by_a_branch, mask, bits,
     operator_by_name, operator_by_another_name, operator_given_on],
)  # fmt: skip
def test_an_array_that_is_changed_in_place_changes_under_its_other_names(f):
    assert_agreement(f, (np.array([0.3, -0.5, 0.9]),), (np.array([-1.0, 2.0, 4.0]),))


def test_an_array_made_of_numbers_has_any_length():
    def f(x, s, n):
        return np.sum(np.sort(np.linspace(0.5, 1.0, n) * s) * x)

    x = np.array([0.3, -0.5, 0.9])
    assert assert_agreement(f, (x, 2.0, 3), (x, 2.0, 1), argnums=(0, 1))


def negated_and_overwritten(x):
    a = np.zeros(3)
    a[:] = x
    y = np.sum(-a * a * a)
    a[:] = 7.0
    return y


def inverted_and_overwritten(x):
    a = np.zeros(3)
    a[:] = x
    y = np.sum(1.0 / a * np.sin(a))
    a[0] = 7.0
    return y


@pytest.mark.parametrize("f", [negated_and_overwritten, inverted_and_overwritten])
def test_a_derivative_is_taken_at_what_an_array_held(f):
    x = np.array([0.3, -0.5, 0.9])
    assert assert_agreement(f, (x,), (2.0 * x,))
    ((_, expected, _),) = slopes(f, (x,))
    np.testing.assert_allclose(gradient(f, x)[0], expected, rtol=1e-6)
