"""Islands: calls in transformed code that the tape answers, because their function is not."""

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import code_adjoint, gradient, hvp, jacobian, testing, value_and_grad
from zygote_lite._specialize.infer.islands import island

X = np.array([1.0, 2.0, 0.5])
log = []


def odd_sum(x, n):
    total = 0.0
    for i in set(range(n)):
        if i % 4:
            total = total + np.sin(x) * i
    return total


def in_straight_code(x):
    return np.sum(odd_sum(x, 5) * x)


def in_a_loop(x):
    s = x[0]
    for k in range(3):
        s = s * np.sum(odd_sum(x * s, 4)) + 0.1 * k
    return s


def in_a_branch(x):
    y = odd_sum(x, 3) if x[0] > 0.0 else x
    return np.sum(y * y)


def twice_over(x):
    return odd_sum(odd_sum(x[0], 4) * x[1], 4) * x[2]


def of_two(x, y):
    return np.sum(of_both(x, y) * y)


def of_both(x, y):
    total = 0.0
    for part in {1, 2}:
        total = total + part * x / y
    return total


def without_gradient(x):
    return np.sum(x) * weight(4)


def weight(n):
    return float(len({i % 3 for i in range(n)}))


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (in_straight_code, (X,)),
        (in_a_loop, (X * 0.3,)),
        (in_a_branch, (X,)),
        (in_a_branch, (-X,)),
        (twice_over, (X,)),
        (of_two, (X, 2.0)),
        (of_two, (1.5, X)),
        (without_gradient, (X,)),
        (in_straight_code, (X.astype(np.float32),)),
    ],
)
def test_the_answer_is_the_tapes(f, xs):
    numbers = tuple(range(len(xs)))
    with testing.recorded_only():
        want = value_and_grad(f, numbers)(*xs)
    with testing.transformed_only(), testing.compared():
        for _ in range(3):
            found = value_and_grad(f, numbers)(*xs)
    assert_close(found, want, 1e-12 if xs[0] is X else 1e-5)
    if xs[0] is X:
        check_gradient(f, *xs)


def test_the_code_shows_the_island_and_says_why():
    text = code_adjoint(in_straight_code, X)
    assert text.startswith("# odd_sum is recorded: it calls set")
    assert "island(odd_sum, x, 5, only=(0,))" in text


def test_what_is_not_differentiated_costs_nothing_going_back():
    y, back = island(of_both, X, 2.0 * X, only=(0,))
    np.testing.assert_array_equal(y, of_both(X, 2.0 * X))
    _, dx, d_data = back(np.ones(3))
    np.testing.assert_allclose(dx, 3.0 / (2.0 * X))
    assert d_data is None


def test_what_the_program_has_a_rule_for_is_no_island():
    called = []
    rule = RuleSet("of a test")

    @rule(noted)
    def _(x: np.ndarray):
        called.append("forward")

        def back(dy):
            called.append("back")
            return (2.0 * dy * x,)

        return x * x, back

    rule.register()
    try:
        for _ in range(4):
            called.clear()
            assert_close(gradient(of_noted, X)[0], 2.0 * X)
            assert called == ["forward", "back"]
        assert "island(" not in code_adjoint(of_noted, X)
    finally:
        rule.unregister()


def noted(x):
    return x * x


def noted_oddly(x):
    return noted(x) * len({1})


def of_noted(x):
    return np.sum(noted_oddly(x))


def test_the_same_for_pullbacks_and_jacobians():
    def f(x):
        return odd_sum(x, 4) * x

    with testing.transformed_only():
        found = jacobian(f)(X)
    with testing.recorded_only():
        np.testing.assert_allclose(found, jacobian(f)(X))


def test_second_derivatives_are_the_tapes():
    v = np.array([1.0, -1.0, 0.5])
    with testing.recorded_only():
        want = hvp(in_straight_code)(X, v)
    for _ in range(4):
        np.testing.assert_allclose(hvp(in_straight_code)(X, v), want)


# -- what may not be one --------------------------------------------------------------------------


def prints(x):
    print("seen", {1})
    return x * x


def notes(x):
    log.append({float(np.sum(x))})
    return x * x


def draws(x):
    return x * np.random.default_rng().normal() * len({1})


def writes(x):
    x[0] += len({1})
    return x * x


def writes_at(x):
    np.add.at(x, [0, 1, 0], len({1}))
    return x * x


def writes_by_a_method(x):
    add = np.add
    add.at(x, [0, 1, 0], len({1}))
    return x * x


def unlocks(x):
    x.setflags(write=True)
    x[0] += len({1})
    return x * x


class Squares:
    def __init__(self):
        self.seen = {1}

    def of(self, x):
        return x * x * len(self.seen)


def makes_objects(x):
    return Squares().of(x) * len({1})


def calls_what_prints(x):
    return prints(x) * len({1})


def saves(x):
    x.tofile("saved" * len({1}))
    return x * x


counts = [0]


def counts_in_a_default(x, seen=counts):
    seen[0] += len({1})
    return x * x


def counts_in_a_list(x):
    counts[0] += len({1})
    return x * x


def counts_globally(x):
    global total
    total = len({1})
    return x * x


def draws_by_another_name(x):
    generator = np.random
    return x * len({1}) * generator.normal()


def with_default(note):
    def inner(x, note=note):
        if note is not None:
            note({float(np.sum(x))})
        return x * len({1})

    return inner


quiet, loud = with_default(None), with_default(log.append)


def notes_by_a_function_with_the_same_code(x):
    return quiet(x) * loud(x) * len({1})


class Scale(float):
    def __rmul__(self, other):
        log.append(other)
        return float(self) * other


scale = Scale(2.0)


def multiplies_by_what_notes(x):
    return len({1}) * float(np.sum(x)) * scale


@pytest.mark.parametrize(
    "inner",
    [prints, notes, draws, writes, writes_at, writes_by_a_method, unlocks,
     saves, makes_objects, calls_what_prints, counts_in_a_default,
     counts_in_a_list, counts_globally, draws_by_another_name,
     notes_by_a_function_with_the_same_code, multiplies_by_what_notes],
)  # fmt: skip
def test_what_may_have_effects_is_no_island(inner):
    def f(x):
        y = x * 1.0
        return np.sum(inner(y))

    assert "island" not in code_adjoint(f, X)


def applied(f, x):
    return f(x) * len({1})


@pytest.mark.parametrize("given", [prints, Squares, log.append])
def test_an_island_is_given_no_functions(given):
    assert "island" not in code_adjoint(lambda x: np.sum(applied(given, x)), X)


def test_making_code_has_no_effects(capsys):
    log.clear()

    def f(x):
        return np.sum(notes(x)) + np.sum(prints(x))

    for _ in range(5):
        gradient(f, X)
    assert len(log) == 5
    assert capsys.readouterr().out.count("seen") == 5


@pytest.mark.parametrize("inner", [writes_at, writes_by_a_method])
def test_making_code_writes_to_no_argument(inner):
    def f(x):
        return np.sum(inner(x))

    expected = X.copy()
    f(expected)
    for _ in range(5):
        given = X.copy()
        slope = gradient(f, given)[0]
        np.testing.assert_array_equal(given, expected)
        np.testing.assert_allclose(slope, 2.0 * expected)


def test_effects_of_what_is_called_are_not_known_for_ever(monkeypatch):
    with testing.transformed_only():
        gradient(without_gradient, X)
    calls = []

    def other(n):
        calls.append(n)
        return 2.0

    monkeypatch.setitem(globals(), "weight", other)
    for _ in range(3):
        assert gradient(without_gradient, X)[0].tolist() == [2.0, 2.0, 2.0]
    assert calls == [4, 4, 4]


def of_one_object(x, y):
    return x * y if x is y else (x + y) * len({1})


def of_memory(x, y):
    return x * y if np.shares_memory(x, y) else (x + y) * len({1})


def of_own_memory(x, y):
    return (x if x.flags.writeable else 2.0 * y) * len({1})


@pytest.mark.parametrize("inner", [of_one_object, of_memory, of_own_memory])
def test_what_asks_for_objects_and_memory_is_no_island(inner):
    def f(x):
        y = x * 1.5
        return np.sum(inner(y, y) * x) + np.sum(inner(y, x))

    with testing.recorded_only():
        want = value_and_grad(f)(X)
    for _ in range(4):
        assert_close(value_and_grad(f)(X), want)
    assert "island" not in code_adjoint(f, X)


def counted_down(x, n):
    while n != 0:
        n, x = n - 1, x * 1.5
    return x * len({1})


def test_what_does_not_end_on_a_path_that_is_not_taken():
    def f(x, n):
        return counted_down(x, n) * x if n > 0 else x * x

    for _ in range(4):
        assert gradient(f, 2.0, -1)[0] == 4.0
    for _ in range(4):
        assert gradient(f, 2.0, 2)[0] == 9.0


# -- later calls ----------------------------------------------------------------------------------


note = None


def tells(x):
    ones = {1}
    if note is not None:
        note(float(x))
    return x * len(ones)


def test_a_global_that_was_none_and_is_a_function_later(monkeypatch):
    def f(x):
        y = tells(x)
        if y > 2.0:
            raise ValueError("too large")
        return y * y

    for _ in range(4):
        assert gradient(f, 1.5) == (3.0,)
    seen = []
    monkeypatch.setitem(globals(), "note", seen.append)
    with pytest.raises(ValueError, match="too large"):
        gradient(f, 3.0)
    assert seen == [3.0]


def doubled(x):
    return 2.0 * x


def of_a_default(x, way=doubled):
    ones = {1}
    return way(x) * len(ones)


def of_a_keyword(x, *, way=doubled):
    ones = {1}
    return way(x) * len(ones)


def of_a_default_inside(x):
    ones = {1}
    return of_a_default(x) * len(ones)


def of_a_number(x, factor=2.0):
    ones = {1}
    return x * factor * len(ones)


@pytest.mark.parametrize(
    ("inner", "owner"),
    [
        (of_a_default, of_a_default),
        (of_a_keyword, of_a_keyword),
        (of_a_default_inside, of_a_default),
    ],
)
def test_a_default_that_is_another_function_later(monkeypatch, inner, owner):
    def f(x):
        y = inner(x)
        if y > 4.0:
            raise ValueError("too large")
        return y * y

    def telling(x):
        seen.append(float(x))
        return 3.0 * x

    seen = []
    for _ in range(4):
        assert gradient(f, 1.5) == (12.0,)
    if owner.__kwdefaults__:
        monkeypatch.setattr(owner, "__kwdefaults__", {"way": telling})
    else:
        monkeypatch.setattr(owner, "__defaults__", (telling,))
    with pytest.raises(ValueError, match="too large"):
        gradient(f, 3.0)
    assert seen == [3.0]


def test_a_default_that_is_another_number_later(monkeypatch):
    def f(x):
        return of_a_number(x) * x

    assert testing.why_recorded(f, 1.5) is None
    for factor in (2.0, 2.0, 2.0, 5.0, 3, np.float32(2.0), np.array(4.0)):
        monkeypatch.setattr(of_a_number, "__defaults__", (factor,))
        assert gradient(f, 1.5) == (3.0 * factor,)


def picky(x):
    if float(x) > 2.0:
        raise ValueError(f"{x} is too large")
    return x * len({1, 2})


def test_an_error_of_a_later_call_is_the_users():
    def f(x):
        return picky(x) * x

    for _ in range(4):
        assert gradient(f, 1.5) == (6.0,)
    with pytest.raises(ValueError, match=r"3\.0 is too large"):
        gradient(f, 3.0)
    assert gradient(f, 1.5) == (6.0,)


def changing(x):
    if float(np.sum(x)) > 3.0:
        return float(len({1})) * np.sum(x)
    return x * len({1})


def test_a_value_of_another_type_leaves_the_code():
    def f(x):
        return np.sum(changing(x) * x)

    for factor in (0.5, 0.5, 0.5, 2.0, 0.5):
        x = factor * X
        with testing.recorded_only():
            want = gradient(f, x)[0]
        np.testing.assert_allclose(gradient(f, x)[0], want)


def rooted(x, y):
    return np.sqrt(x) * y * len({1})


def test_a_zero_that_meets_an_infinity_is_a_strong_zero():
    def f(x, y):
        return np.sum(rooted(x, y) * y)

    x, y = np.array([0.0, 4.0]), np.array([0.0, 1.0])
    with testing.recorded_only():
        want = gradient(f, x, y)
    assert np.isfinite(want[0]).all()
    for _ in range(4):
        assert_close(gradient(f, x, y), want)


def begins_well(x, scale):
    rows = [x * scale]
    rows.append(rows[0] * 2.0)
    y = np.zeros(3)
    y[0] = x[1]
    if len({1}) == 1:
        rows.append(y)
    return rows[0] + rows[1] + rows[2]


def test_an_attempt_that_fails_leaves_nothing_behind():
    def f(x, scale):
        before = x * scale
        return np.sum(begins_well(x, scale) * before * x)

    with testing.transformed_only(), testing.compared():
        found = value_and_grad(f, (0, 1))(X, 1.5)
    with testing.recorded_only():
        assert_close(found, value_and_grad(f, (0, 1))(X, 1.5), 1e-12)


def cubed(x):
    return x * x * x


def odd_cubes(x):
    total = 0.0
    for i in set(range(6)):
        total = total + cubed(x) * i
    return total


def test_no_code_is_made_for_what_an_island_calls_on_samples():
    """A branch that is not taken cannot be worth code for what its island calls."""

    def f(x):
        if x > 7.0:
            return odd_cubes(x) + 3.0
        if x > 6.0:
            return odd_cubes(x) + 2.0
        return odd_cubes(x) if x > 5.0 else 2.0 * x

    testing.forget(cubed)
    for _ in range(6):
        assert gradient(f, 2.0) == (2.0,)
    assert "odd_cubes is recorded" in "".join(testing.programs(f))
    assert testing.programs(cubed) == []
    for _ in range(6):  # but for calls that are taken
        assert gradient(f, 6.0) == (15 * 3 * 36.0,)
    assert testing.programs(cubed)
