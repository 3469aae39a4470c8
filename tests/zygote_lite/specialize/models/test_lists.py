"""Lists of numbers of any length in specialized code: as the tape has them."""

import copy
import itertools
import math
from unittest import mock

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import (
    answers,
    assert_agreement,
    generic,
    is_nothing,
    outcome,
)
from tests.zygote_lite.fuzz.generate import lists as list_programs
from zygote_lite import DifferentiationError, testing, value_and_grad
from zygote_lite._interface.gradients import raw_value_and_gradient
from zygote_lite._specialize import attempts
from zygote_lite._specialize import driver as _specialize
from zygote_lite._specialize.compiled_text import compile_text
from zygote_lite._specialize.infer.models.lists.items import fact_of_list
from zygote_lite._specialize.typed.reasons import NotSpecializable

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.normal(size=shape).tolist()


def squares(xs):
    s = 0.0
    for x in xs:
        s += x * x
    return s


def sines_backwards(xs):
    out = []
    for x in xs:
        out.append(math.sin(x))
    t = 0.0
    for i in range(len(out)):
        t += out[i] * xs[-1 - i]
    return t


def running_products(xs):
    c = list(xs)
    for i in range(1, len(c)):
        c[i] = c[i] * c[i - 1] + xs[i]
    return c[-1] + c[0]


def sums(xs):
    return sum(xs) * sum([x * x for x in xs])


def rows_appended(a):
    rows = []
    for r in a:
        row = []
        for v in r:
            row.append(v * v)
        rows.append(row)
    s = 0.0
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            s += rows[i][j] * a[i][-1]
    return s


def counts_become_floats(xs):
    n = len(xs)
    c = [0] * n
    for i in range(n):
        c[i] = c[i] + xs[i] * 2.0
    for i in range(n - 1):
        c[i + 1] += c[i] * xs[i]
    return c[n - 1] * c[0]


def zipped(xs, ys):
    s = 0.0
    for x, y in zip(xs, ys):
        s += x * y
    for i, (x, y) in enumerate(zip(xs, ys)):
        s += i * x / y
    return s


def grown_in_branches(xs):
    out = [1.0]
    out = []
    out.append(2.0)
    out.append(xs[0])
    for x in xs:
        if x > 0:
            out.append(x * out[-1])
        else:
            out.append(0.5 * out[len(out) - 2])
    s = 0.0
    for o in out:
        s += o * o
    return s


def skipped_and_left(xs):
    s = 0.0
    for x in xs:
        if x < 0:
            continue
        if s > 50:
            break
        s += x * math.exp(-x)
    return s


def matrix_times_vector(a, v):
    out = [sum([r[j] * v[j] for j in range(len(v))]) for r in a]
    m = out[0]
    return sum([math.exp(o - m) for o in out])


def list_in_each_turn(xs):
    s = 0.0
    for i in range(3):
        tmp = []
        for x in xs:
            tmp.append(x * (i + 1.0))
        for t in tmp:
            s += t * t * tmp[0]
    return s


def copy_is_overwritten(xs):
    s = 0.0
    xs2 = list(xs)
    xs2[0] = xs2[0] * 3.0
    xs2[1] = 7.0
    for x in xs2:
        s += x * x
    return s


def sums_of_rows(a):
    s = 0.0
    for r in a:
        s += sum(r) ** 2
    return s


def copies_of_rows(a):
    s = 0.0
    for r in a:
        c = list(r)
        for i in range(len(c)):
            c[i] *= 2.0
        s += c[0] * c[-1]
    return s


def array_of_a_list(xs):
    a = np.array(xs)
    s = 0.0
    for x in xs:
        s += x
    return float(np.sum(a * a)) * s


def while_loop(xs):
    d = [0.0] * len(xs)
    i = 0
    while i < len(xs):
        d[i] = xs[i]
        if i > 0:
            d[i] = d[i] + d[i - 1]
        i += 1
    return d[-1] ** 2


def table(xs):
    n = len(xs)
    t = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(n):
            t[i + 1][j + 1] = t[i][j] + xs[i] * xs[j] if i != j else 0.5 * t[i][j + 1]
    return t[n][n] + t[n][1]


def ones_become_active(xs):
    out = []
    for x in xs:
        out.append(1.0)
    s = 0.0
    for i in range(len(xs)):
        out[i] = out[i] * xs[i]
        s += out[i]
    return s * out[0]


def filtered(xs):
    s = 0.0
    positive = [x for x in xs if x > 0]
    for w in positive:
        s += w**3
    return s + len(positive)


def differences(xs):
    prev = xs[0]
    s = 0.0
    for x in xs[1:]:
        s += (x - prev) ** 2
        prev = x
    return s


def argument_is_written(xs):
    xs[0] = 2.0
    return xs[0] * xs[1]


def another_name(xs):
    out = []
    for x in xs:
        out.append(x)
    zs = out
    zs[0] = 5.0
    return out[0] * xs[1] + out[1]


def appended_list_is_read(xs):
    a = [0.0] * len(xs)
    rows = []
    rows.append(a)
    a[0] = xs[0]
    return rows[0][0] * 1.0


def appended_many_times(xs):
    rows = []
    a = [0.0] * len(xs)
    for i in range(len(xs)):
        a[i] = xs[i]
        rows.append(a)
    return rows[0][1] * rows[1][0]


def grown_by_another_name(xs):
    out = []
    for x in xs:
        out.append(x * x)
        s = out[-1]
    out2 = out
    out2.append(xs[0] * s)
    return sum(out) * out[-1]


def shared_rows(xs):
    n = len(xs)
    t = [[0.0] * n] * 2
    for i in range(n):
        t[0][i] = xs[i]
    return t[1][0]


def alias_is_written(xs):
    c = [0.0] * len(xs)
    for i in range(len(xs)):
        r = c
        r[i] = xs[i]
        if i > 1:
            r[i] = r[i] * r[i - 1]
    return c[-1] * c[-2]


def grows_while_walked(xs):
    s = 0.0
    it = []
    for x in xs:
        it.append(x)
        if len(it) > 3:
            break
    for x in it:
        s += x
        if len(it) < 9:
            it.append(x * 2)
    return s


def some_become_floats(xs):
    d = [1] * len(xs)
    for i in range(len(xs)):
        if xs[i] > 0:
            d[i] = xs[i]
    return d[0] * d[1] * 1.0 + d[3] * d[4]


VECTOR = [
    squares, sines_backwards, running_products, sums, counts_become_floats, grown_in_branches,
    skipped_and_left, list_in_each_turn, array_of_a_list, while_loop, ones_become_active,
    filtered, differences, grown_by_another_name, some_become_floats,
]  # fmt: skip
MATRIX = [rows_appended, sums_of_rows]
LEFT_ALONE = [argument_is_written, another_name, appended_list_is_read, appended_many_times,
              shared_rows, alias_is_written, grows_while_walked, copy_is_overwritten]  # fmt: skip


@pytest.mark.parametrize("f", VECTOR, ids=lambda f: f.__name__)
def test_list(f):
    first, *later = [(numbers(n),) for n in (70, 67, 12, 5)]
    assert assert_agreement(f, first, *later)
    assert answers(f, first)
    assert answers(f, later[0])  # lists of another length enter the same code


@pytest.mark.parametrize("f", MATRIX, ids=lambda f: f.__name__)
def test_list_of_lists(f):
    first, *later = [(numbers(*shape),) for shape in ((9, 9), (8, 10), (3, 2))]
    assert assert_agreement(f, first, *later, ([[1.0, 2.0], [3.0]],))
    assert answers(f, later[-1])


def test_table():
    assert assert_agreement(table, (numbers(20),), (numbers(17),))
    assert answers(table, (numbers(12),))


def test_two_lists():
    assert assert_agreement(zipped, (numbers(70), numbers(66)), (numbers(3), numbers(4)))
    assert assert_agreement(matrix_times_vector, (numbers(9, 9), numbers(9)))
    assert assert_agreement(copies_of_rows, (numbers(9, 9),))


@pytest.mark.parametrize("f", LEFT_ALONE, ids=lambda f: f.__name__)
def test_what_aliases_allow(f):
    assert_agreement(f, (numbers(70),), (numbers(9),))


@pytest.mark.parametrize("xs", [
    [[1.0, 2.0]] * 2, [], [[]], [[1, 2]], [[1.0, math.nan]], [[1.0, True]], [(1.0, 2.0)],
    np.ones((3, 3)), [[np.float64(1.0), 2.0]], [[1.0, 2.0], 3.0], [[[1.0]]], [[0.0, -0.0]],
], ids=repr)  # fmt: skip
def test_lists_that_do_not_enter(xs):
    """Lists with other items, rows that are one list, nothing: the tape answers."""
    assert_agreement(rows_appended, (numbers(9, 9),), (xs,))


def test_one_list_given_twice():
    """Specialized code leaves it to the tape, which refuses."""
    xs = numbers(70)
    differentiated = value_and_grad(zipped, (0, 1))
    for _ in range(3):
        differentiated(numbers(70), numbers(70))
    with pytest.raises(DifferentiationError, match="arguments 1 and 2 share one list"):
        differentiated(xs, xs)


def test_gradient_of_a_list_is_a_new_list_each_time():
    xs = numbers(70)
    differentiated = value_and_grad(squares)
    first = [differentiated(xs)[1] for _ in range(4)][-1]
    kept = [*first]
    first[0] = 99.0
    assert differentiated(xs)[1] == kept == [2 * x for x in xs]


def filled(d, like):
    if isinstance(like, list):
        return [filled(v, x) for v, x in zip(d or [None] * len(like), like, strict=True)]
    return 0.0 if d is None else d


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(20))
def test_random_program(seed):
    f, choices = list_programs.load(seed), list_programs.arguments(seed)
    with mock.patch.object(attempts, "_MOST_ITEMS_OF_LISTS", 0):
        made = outcome(lambda: _specialize.specialize(f, choices[0], (True, True, True)))
    if made[0] == "error":
        assert made[1:] == (
            NotSpecializable,
            "its transformed code grows too long [not supported: too-long]",
        )
        return
    fast = compile_text(made[1], f)
    for xs in choices:
        kind, *want = generic(f, copy.deepcopy(xs), (0, 1, 2))
        given = copy.deepcopy(xs)
        got = outcome(lambda given=given: fast(*given))
        if got[0] == "error":
            assert kind == "error" or "left" in got[2], got
            continue
        y, *found = got[1]
        assert given == xs
        ((value, gradients),) = want
        assert y == pytest.approx(value, rel=1e-12)
        for d, expected, x in zip(found, gradients, xs, strict=True):
            np.testing.assert_allclose(
                np.array(filled(d, x)), np.array(filled(expected, x)), rtol=1e-7, atol=1e-9
            )


def rows_from_the_end(x, n):
    rows = []
    s = 0.0
    for i in range(n):
        row = []
        row.append(x * i)
        row.append(x + i)
        rows.append(row)
        last, first = rows[-1], rows[0]
        more = []
        more.append(x)
        more.append(x)
        rows.append(more)
        s = s + last[0] * last[1] + first[1] * rows[-2][0]
        last[1] = last[0] * s
    return s * rows[-2][1]


def test_a_row_named_from_the_end_stays_that_row():
    f = rows_from_the_end
    assert assert_agreement(f, (1.5, 3), (2.5, 2), (0.5, 5), argnums=(0,))
    h = 1e-6
    (slope,) = value_and_grad(f, (0,))(1.5, 3)[1]
    assert slope == pytest.approx((f(1.5 + h, 3) - f(1.5 - h, 3)) / (2 * h), rel=1e-6)


def times_zero(xs, zero):
    s, t = 1.0, zero
    for v in xs:
        if v > 0:
            t = v * s
        else:
            s = s * v
        if t > 100:
            break
    return s * t


def test_a_variable_may_be_named_zero():
    xs = numbers(70)
    assert assert_agreement(times_zero, (xs, 5.0), ([-1.0, *xs], 2.0), ([-v for v in xs], 3.0))


def written_over(p, a):
    r = [[0.0] * 2 for _ in range(2)]
    r[0][0] = p[0] * a
    r[1][1] = p[1] * a
    r[0][0] = a
    return r[0][0] * r[1][1]


def appended_and_written_over(p, a):
    out = []
    out.append(p[0] * a)
    out.append(p[1] * a)
    out[0] = math.sin(a)
    return sum(out) + a


@pytest.mark.parametrize("f", [written_over, appended_and_written_over])
def test_what_is_written_over_has_no_gradient(f):
    p, a = (0.1, 0.2), 0.3
    assert assert_agreement(f, (p, a), ((-0.5, 2.0), 1.5), argnums=(0,))
    (slopes,) = value_and_grad(f, (0,))(p, a)[1]
    assert not slopes[0]  # `None` on the tape, and 0.0 where all items of a list are one value
    assert slopes[1] == pytest.approx((f((0.1, 0.2 + 1e-6), a) - f(p, a)) / 1e-6, rel=1e-5)


def not_always_read(q, a):
    t = a
    if a < 1:
        for v in q[0]:
            t += v * a
        t += q[1][3]
    return t * t


def test_a_structure_of_lists_that_no_gradient_reaches():
    for q in ((numbers(70), numbers(70)), [numbers(70), (0.5, *numbers(3))]):
        assert assert_agreement(not_always_read, (q, 0.5), (q, 1.5), argnums=(0,))
        assert answers(not_always_read, (q, 1.5))  # a branch decides: it may be `None` or zeros
        assert is_nothing(value_and_grad(not_always_read, (0,))(q, 1.5)[1])


def powers_appended(xs, n):
    out = []
    for _ in range(n):
        out.append(out[-1] * xs[0] if out else xs[0])
    return sum(out) + xs[1]


def item_of_nothing(xs, n):
    out = []
    for _ in range(n):
        out.append(out[-1] * xs[0])
    return sum(out) + xs[1]


def test_items_of_a_list_that_is_empty_as_yet():
    xs = [0.5, 2.0]
    for f in (powers_appended, item_of_nothing):
        assert_agreement(f, (xs, 0), (xs, 3), (xs, 1), argnums=(0,))
        reasons = testing.reasons(f)
        assert not any("internal" in r for r in reasons), reasons


def first_in_another_way(xs):
    out = []
    for x in xs:
        if x > 0.1:
            out.append(x * 2.0 if out else x * x)
    return sum(out)


def test_the_reverse_pass_asks_whether_a_list_was_empty_then():
    first = ([0.5, 2.0, 0.7],)
    assert assert_agreement(first_in_another_way, first, ([0.0, 0.5, 2.0],), ([],))
    assert answers(first_in_another_way, first)


def small_ones_beside_pairs(xs):
    small = []
    for x in xs:
        if x < 0.65:
            small.append(x * x)
    pairs = itertools.zip_longest(xs, xs[:1], fillvalue=0.3)
    return sum(small) * len(small) + sum(a * b for a, b in pairs)


def test_a_list_that_a_branch_appends_to_beside_items_that_are_known_one_by_one():
    first = ([0.5, 0.7],)
    assert assert_agreement(small_ones_beside_pairs, first, ([0.7, 0.5],), ([0.8, 0.9],))
    assert answers(small_ones_beside_pairs, first)


def powers_put_in(x, out, count):
    power = x
    for k in range(1, count):
        out[k] = power * k
        power *= x


def written_by_a_callee_in_a_branch(xs):
    c = [0.5, 0.5, 0.5, 0.5]
    same = c
    if xs[0] > 1:
        powers_put_in(xs[1], c, 4)
    elif xs[1] > 0.5:
        powers_put_in(xs[0] * 2, same, 3)
    first, second = xs
    return sum(c) * first + same[1] * second


def test_a_list_that_a_branch_writes_to_beside_items_that_are_known_one_by_one():
    f, first = written_by_a_callee_in_a_branch, ([1.5, 0.7],)
    assert assert_agreement(f, first, ([0.7, 0.9],), ([0.5, 0.4],), ([1.5, 2.5],))
    assert answers(f, first)


# -- short lists, some of whose items get no gradient ---------------------------------------------


def of_the_positive(xs):
    s = 0.0
    for v in xs:
        if v > 0:
            s += v * v
    return s


def of_the_greatest(xs):
    greatest = xs[0]
    for v in xs[1:]:
        if v > greatest:
            greatest = v
    return greatest


def of_steps(xs):
    s = 0.0
    for i in range(1, len(xs)):
        s += abs(xs[i] - xs[i - 1]) if xs[i] > 0 else 0.0
    return s


@pytest.mark.parametrize("f", [of_the_positive, of_the_greatest, of_steps])
def test_items_without_a_gradient_need_no_engine(f):
    first = ([1.0, -2.0, 3.0],)
    assert assert_agreement(f, first, ([-1.0, -2.0],), ([2.0, 3.0, 1.0, -1.0],), ([0.5],), ([],))
    assert None in raw_value_and_gradient(f, 0)(*first)[1]
    assert answers(f, first)


def test_what_holds_for_a_list_holds_for_all_its_rows():
    row = [1.0, 2.0]
    for one_kind in (row, [1, 2], [row, [3.0]], [[1], [2, 3]]):
        assert fact_of_list(one_kind) is not None
    for others in ([], [1.0, 2], [row, [1]], [row, []], [[], []], [row, row], [row, 1.0]):
        assert fact_of_list(others) is None


def test_a_repeated_list_holds_numbers_of_all_its_classes():
    def f(x, n):
        s = 0.0
        for v in [1.0, 2] * n:
            s = s + (x * x if isinstance(v, float) else x)
        return s

    with testing.transformed_only():
        assert value_and_grad(f)(3.0, 2) == (24.0, 14.0)


def test_a_list_that_is_reached_from_its_own_items():
    def f(x):
        a = [x]
        b = [a, x]
        a.append(b)
        c = a if x > 1.0 else [x, x]
        return c[0] * a[1][0][0]

    assert_agreement(f, (3.0,), (0.5,))
    assert value_and_grad(f)(3.0) == (9.0, 6.0)


def test_a_tuple_of_a_list_of_any_length_is_a_tuple():
    def f(x, n):
        xs = []
        for i in range(n):
            xs.append(x * i)
        t = tuple(xs)
        return (x if isinstance(t, tuple) else 2.0 * x) * sum(t)

    for _ in range(4):
        assert value_and_grad(f)(2.0, 4) == (24.0, 24.0)


def squares_of_both(xs, ys):
    s = 0.0
    for v in xs + ys:
        s += v * v
    return s


def powers_repeated(x, n):
    s = 0.0
    for v in [x, x * x] * n:
        s += v * v
    return s


def test_lists_of_any_length_are_joined_and_repeated():
    xs, ys = numbers(80), numbers(90)
    with testing.transformed_only():
        value, (dxs, dys) = value_and_grad(squares_of_both, (0, 1))(xs, ys)
        found = value_and_grad(powers_repeated)(0.5, 50)
    np.testing.assert_allclose(value, np.sum(np.square(xs + ys)))
    np.testing.assert_allclose(dxs + dys, 2.0 * np.array(xs + ys))
    np.testing.assert_allclose(found, (50 * (0.25 + 0.0625), 50 * (2 * 0.5 + 4 * 0.125)))


def scaled_first(xs):
    ys = []
    for x in xs:
        ys.append(x * x)
    ys[0] = ys[0] * 3.0
    return sum(ys)


def test_code_that_writes_to_a_list_that_it_makes_is_for_any_length():
    assert testing.why_recorded(scaled_first, [1.0, 2.0, 3.0]) is None
    assert testing.is_covered(scaled_first, [1.0] * 7)
    assert value_and_grad(scaled_first)([1.0, 2.0]) == (7.0, [6.0, 4.0])


def test_lists_of_numbers_of_numpy_are_repeated():
    def bands(p, n):
        diagonal, both = [-p[0]] * n, [p[0], p[1], 2.0] * n
        diagonal[1] = p[1]
        for i in range(len(both)):
            both[i] = both[i] * diagonal[i % n] + i
        return np.sum(np.array(both) ** 2) + max([p[1]] * n)

    choices = [(np.array([0.5, 0.7]), 3), (np.array([0.6, 0.2]), 4), (np.array([0.5, 0.7]), 3)]
    programs.assert_transformed(bands, choices, (0,))


def of_comprehended(n, x):
    made = np.array([n for _ in x])
    return made @ made + np.sum(x)


def of_appended(n, x):
    made = []
    for _ in x:
        made.append(n)
    return made[0] * made[-1] * x[0]


def of_stored(n, x):
    made = [1] * len(x)
    for i in range(len(x)):
        made[i] = n
    return float(sum(made)) * x[0]


@pytest.mark.parametrize("f", [of_comprehended, of_appended, of_stored])
def test_integers_that_are_differentiated_keep_their_gradient_in_a_list(f):
    x, h = np.array([0.3, 0.4]), 1e-6
    assert_agreement(f, (2, x), (3, x), (2.5, x))
    due = (f(2 + h, x) - f(2 - h, x)) / (2 * h)
    for _ in range(3):
        assert value_and_grad(f)(2, x)[1] == pytest.approx(due)


def test_an_item_of_another_kind_than_a_number_is_told():
    def f(x):
        a = [x, x * 2.0]
        for k in range(int(x) + 1):
            a[k] = x * np.ones(2)
        return np.sum(a[0])

    assert "it assigns a list item other than a number" in testing.why_recorded(f, 1.3)
    assert assert_agreement(f, (1.3,)) is False
