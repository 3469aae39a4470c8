"""Branches whose paths cannot be joined: code follows the path that is taken, or is left."""

import math
import time

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import gradient, testing, value_and_grad
from zygote_lite._specialize import attempts
from zygote_lite._specialize.infer.interpreter import Interpreter

A = np.array


def number_or_none(x, n):
    limit = 3.0 * x if n > 2 else None
    y = x * x
    return y if limit is None else y * limit


def list_of_some(x, n):
    kept = []
    for a in (x, x * 2.0, x * 3.0):
        if n > 1:
            kept.append(a)
    return sum(kept, x) * len(kept)


def appended_on_a_path(x, n):
    kept = [x]
    if n > 2:
        kept.append(x * x)
        kept.append(1.0)
    return kept[-1] * kept[0] * len(kept)


def keys_by_path(x, n):
    options = {"scale": 2.0 * x}
    if n > 2:
        options["shift"] = x * x
    return options.get("shift", 1.0) * options["scale"]


class Model:
    def __init__(self, x, n):
        self.x = x
        self.parts = None
        if n > 2:
            self.parts = [x, x * x]

    def value(self):
        if self.parts is None:
            return self.x
        return self.parts[0] * self.parts[1]


def attribute_by_path(x, n):
    return Model(x, n).value() * x


def kinds_inside(x, n):
    if n > 4:
        y = (x, x)
        if x > 1.0:
            y = [x, x, x]
    else:
        y = x
    return y * x if n <= 4 else sum(y) * x


def what_is_not_followed_on_the_other_path(x, n):
    if n > 100:
        time.sleep(0.0)
    return x * n


def raises_on_a_path(x, n):
    pair = (x, 1.0)
    if n > 2:
        pair = (x,)
    if len(pair) == 2 and n == 0:
        raise ValueError("nothing")
    return pair[0] * x * len(pair)


def left_in_a_loop(x, n):
    found = None
    for i in range(n):
        if x * i > 3.0:
            found = x * i
            break
    return x if found is None else found * x


PROGRAMS = [
    number_or_none, list_of_some, appended_on_a_path, keys_by_path, attribute_by_path,
    kinds_inside, what_is_not_followed_on_the_other_path, raises_on_a_path, left_in_a_loop,
]  # fmt: skip
NUMBERS = (3, 3, 3, 1, 1, 1, 5, 0, 3, 5, 5, 1, 2, 1, 3)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_each_path_has_the_gradient_of_differences(f):
    testing.forget(f)
    slope = value_and_grad(f)
    with testing.observed() as answers:
        for n in NUMBERS:
            for x in (1.6, 0.8):
                try:
                    want = f(x, n)
                except ValueError as error:
                    with pytest.raises(ValueError, match=str(error)):
                        slope(x, n)
                    continue
                y, dx = slope(x, n)
                assert y == want
                assert dx == pytest.approx((f(x + 1e-6, n) - f(x - 1e-6, n)) / 2e-6, rel=1e-6)
    assert answers[2].is_transformed or f is left_in_a_loop
    assert_agreement(f, (1.5, 3), (1.5, 1), (0.5, 5), (2, 3), argnums=(0,))


def test_another_path_gets_code_of_its_own():
    testing.forget(kinds_inside)
    for n in [3] * 3 + [5] * 8:
        value_and_grad(kinds_inside)(1.5, n)
    with testing.transformed_only():
        assert [value_and_grad(kinds_inside)(1.5, n)[0] for n in (3, 5)] == [2.25, 6.75]
    assert len(testing.programs(kinds_inside)) == 2


def brackets(x, n):
    low = high = None
    y = x
    for i in range(n):
        value = y * y - 2.0 - 0.1 * i
        if value < 0.0:
            low = y
        else:
            high = y
        y = y - value / (2.0 * y)
        if low is not None and high is not None and not low <= y <= high:
            y = 0.5 * (low + high)
    return y if high is None else y + 0.1 * high


def the_last_that_counts(x, n):
    last, total = None, 0.0
    for i in range(n):
        if last is not None:
            total = total + (i * x - last) ** 2
        if i % 2:
            last = x**i
    return total + x


class Controller:
    def __init__(self, gain):
        self.gain, self.last = gain, None

    def step(self, error):
        slope = 0.0 if self.last is None else error - self.last
        if abs(error) > 0.3:
            self.last = error
        return self.gain * error + 0.1 * slope


def controls(x, n):
    controller, y = Controller(x), 0.0
    for _ in range(n):
        y = y + 0.2 * controller.step(1.0 - y)
    return y


def found_or_none(x, n):
    def first_beyond(limit):
        for i in range(n):
            if x * i > limit:
                return x * i * limit
        return None

    near, far = first_beyond(1.0), first_beyond(3.5)
    return (x if near is None else near) * (x if far is None else far)


def starts_anew(x, n):
    kept, total = None, 0.0
    for i in range(n):
        kept = x if kept is None else kept * x + i
        if kept > 6.0:
            total, kept = total + kept, None
    return total if kept is None else total * kept


@pytest.mark.parametrize(
    "f", [brackets, the_last_that_counts, controls, found_or_none, starts_anew, number_or_none],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_a_number_or_none_has_one_code(f):
    testing.forget(f)
    for n in NUMBERS:
        for x in (1.6, 0.8):
            y, dx = value_and_grad(f)(x, n)
            assert y == f(x, n)
            assert dx == pytest.approx((f(x + 1e-6, n) - f(x - 1e-6, n)) / 2e-6, rel=1e-6)
    assert len({*testing.programs(f)}) == 1
    with testing.transformed_only():
        assert value_and_grad(f)(0.7, 4)[0] == f(0.7, 4)
    assert_agreement(f, (1.5, 3), (0.5, 1), (0.5, 5), (2, 3), argnums=(0,))


def adds_a_step(x, step=None):
    return x * x if step is None else x * step


def given_none(x, n):
    step = None
    for i in range(n):
        x = adds_a_step(x, step)
        if i > 1:
            step = x
    return x


def raises_for_none(x, n):
    step = None
    for i in range(n):
        step = x * i if x * i > 1.0 else step
    return step * x


def test_what_takes_none_for_a_number_is_left_to_the_tape():
    for f in (given_none, raises_for_none):
        testing.forget(f)
        for n in (3, 3, 3, 0, 4, 1, 3):
            if f is raises_for_none and n < 2:
                with pytest.raises(TypeError, match="unsupported operand"):
                    value_and_grad(f)(1.1, n)
                continue
            y, dx = value_and_grad(f)(1.1, n)
            assert y == f(1.1, n)
            assert dx == pytest.approx((f(1.1 + 1e-6, n) - f(1.1 - 1e-6, n)) / 2e-6, rel=1e-6)


def test_effects_come_once_where_the_other_path_is_taken():
    seen = []

    def f(x, n):
        limit = 3.0 * x if n > 2 else None
        if limit is None:
            seen.append(n)
            return x
        return x * limit

    for n in (3, 3, 3, 1, 3, 1, 1, 1):
        assert value_and_grad(f)(1.5, n) == pytest.approx((4.5 * 1.5, 9.0) if n > 2 else (1.5, 1.0))
    assert seen == [1] * 4


def test_code_that_would_always_be_left_is_not_kept():
    def f(x, n):
        y = 0.0
        for i in range(n):
            pair = (x, x * x) if i > 1 else (x, 1.0, x)
            y = y + pair[0] * pair[1]
        return y

    for _ in range(4):
        assert value_and_grad(f)(1.5, 4)[0] == f(1.5, 4)
    assert not testing.programs(f)


def of_many_paths(x, n):
    y = x
    for k in range(40):
        y = y * math.cos(y) if y > 0.5 + 0.001 * k else y + 0.25
    a = None if n > 3 else (y, x)
    if y > 0.7:
        b = y if a is None else a[0]
    else:
        b = y * y
    return b * x + (0.0 if a is None else a[1])


def test_many_paths():
    for n in (1, 1, 1, 5, 5, 1):
        for x in (0.3, 0.9):
            y, dx = value_and_grad(of_many_paths)(x, n)
            assert y == of_many_paths(x, n)
            h = 1e-6
            want = (of_many_paths(x + h, n) - of_many_paths(x - h, n)) / (2.0 * h)
            assert dx == pytest.approx(want, rel=1e-5)


def test_arrays_that_are_written_on_a_path():
    def f(x, n):
        y = x * 2.0
        kept = None
        if n > 1:
            y[0] = x[1] * x[1]
            kept = [y, x]
        return np.sum(y * x) if kept is None else np.sum(kept[0] * kept[1]) * len(kept)

    assert assert_agreement(f, (A([1.0, 2.0]), 3), (A([1.0, 2.0]), 1), (A([0.5]), 1), argnums=(0,))


def columns(x):
    return np.array([x[..., i] for i in range(x.shape[-1])])


def stacked(xs):
    return np.concatenate([x[..., None] for x in np.array(xs)], axis=-1)


def of_three(x, w):
    if x.shape[-1] == 3:
        return stacked(list(columns(x)))
    a, b = columns(x)
    return stacked([a * b, b, np.resize(w, np.shape(a)) * a])


def by_columns(x, w):
    a, b, c = columns(of_three(x, w))
    return np.sum(a * b + c * c) * w


def test_lengths_of_arrays_are_settled():
    rng = np.random.default_rng(0)
    shapes = [(3,), (3,), (2,), (2,), (3,), (4, 3), (4, 2), (4, 3), (5, 3), (1, 2)]
    points = [(rng.normal(size=shape), 1.5) for shape in shapes]
    assert assert_agreement(by_columns, *points)
    assert testing.why_recorded(by_columns, *points[0]) is None
    with pytest.raises(ValueError, match="unpack"):
        value_and_grad(by_columns)(rng.normal(size=4), 1.5)


def test_paths_of_a_rule_keep_its_shapes():
    def f(x):
        return np.sum(np.diff(x, axis=0) * x[1:])

    assert assert_agreement(f, (A([[1.0], [2.0], [4.0]]),), (np.eye(3),))


def test_an_argument_is_written_once():
    def f(x, n):
        kept = None
        x[0] = x[0] * x[1]
        if n > 1:
            kept = [x[0], 2.0]
        return np.sum(x) if kept is None else kept[0] * kept[1]

    for n in (3, 3, 3, 1, 3):
        x = A([2.0, 3.0])
        assert value_and_grad(f)(x, n)[0] == (12.0 if n > 1 else 9.0)
        np.testing.assert_array_equal(x, [6.0, 3.0])


class Thing:
    def __init__(self, **attributes):
        vars(self).update(attributes)


def thing():
    return Thing(t=0.1, b=0.7, p=Thing(a=5.0, b=6.0), q=Thing(a=7.0, b=8.0))


def reads_where_it_is_left(x, m, n):
    z = x
    if n > 2:
        if z > m.t:
            z = z + m.t
        else:
            z = z * m.b * m.p.b
            for _ in range(n):  # what cannot be transformed
                z = [z] * n
    return z * math.cos(m.b) * m.q.b * m.p.b


def assigns_where_it_is_left(x, m, n):
    z = x
    if n > 2:
        if z > m.t:
            z = z + m.t
        else:
            m.p.a = z * 3.0
            for _ in range(n):
                z = [z] * n
    m.q.a = z * 2.0 + m.q.b
    return m.q.a * x


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("f", [reads_where_it_is_left, assigns_where_it_is_left])
def test_attributes_that_a_given_up_path_reads_are_read_again(f, n):
    """The path was forgotten, but not its attributes: they had no variable, or another object's."""

    def by_numbers(x, b, qb):
        m = thing()
        m.b, m.q.b = b, qb
        return f(x, m, n)

    xs, h = [0.3, 0.7, 8.0], 1e-6
    want = []
    for i in range(3):
        up, down = list(xs), list(xs)
        up[i], down[i] = xs[i] + h, xs[i] - h
        want.append((by_numbers(*up) - by_numbers(*down)) / (2 * h))
    differentiated = value_and_grad(f, (0, 1))
    for _ in range(4):
        m = thing()
        with testing.compared(), testing.strict(), testing.observed() as answers:
            y, (dx, dm) = differentiated(0.3, m, n)
        assert [answer.tier for answer in answers] == ["transformed"]
        assert y == pytest.approx(by_numbers(*xs))
        assert [dx, dm.b, dm.q.b] == pytest.approx(want, rel=1e-6)
        before = thing()
        assert m.p.a == before.p.a
        assert (m.q.a == before.q.a) == (f is reads_where_it_is_left)


def with_options(x, low=None, tolerance=None, further=False):
    y = x * 2.0
    if y == x and further:
        for factor in FACTORS:
            y = {factor: y}
    if (tolerance is not None and abs(y) < tolerance and not further) or y == 0.0:
        return y * 3.0
    if low is not None and y < low and further:
        y = [y]
    while y > 1.0 and (low is None or y > low):
        y = y / 2.0
    return y if (y > 0.5 or not further) else None


FACTORS = [1.0 + 0.1 * k for k in range(200)]


@pytest.mark.parametrize("kind", [float, np.float64])
def test_a_branch_whose_test_is_known_with_its_options_is_not_written(kind):
    for x in (0.3, 3.7, 0.0, -2.0):
        for f in (with_options, lambda x: with_options(x, 0.5, 0.1)):
            assert_tiers_agree(f, kind(x))


def assert_tiers_agree(f, x):
    assert testing.why_recorded(f, x) is None
    with testing.transformed_only():
        found = [value_and_grad(f)(x) for _ in range(2)]
    with testing.recorded_only():
        right = value_and_grad(f)(x)
    assert found == [right, right]
    assert type(found[0][0]) is type(right[0])


@pytest.mark.parametrize("kind", [float, np.float64])
def test_the_truth_of_a_conjunction_is_that_of_each_run(kind):
    def f(x):
        small = x > 1.0 and False
        big = x > 1.0 or True
        other = (x > 1.0 and x < 3.0) or False
        return x * (2.0 if small else 3.0) + (x * x if big else 0.0) + (x**3 if other else 0.0)

    for x in (0.5, 1.5):
        assert_tiers_agree(f, kind(x))


def test_a_module_that_depends_on_the_path_is_left_to_the_tape():
    def f(x):
        module = np
        for i in range(2):
            if x > i + 0.5:
                module = math
        return module.cos(x)

    assert "`module` is not a number, and is different" in testing.why_recorded(f, 1.0)
    assert assert_agreement(f, (1.0,), (0.2,)) is False


def test_branches_that_cannot_be_joined_are_not_tried_again_and_again(tmp_path, monkeypatch):
    lines, depth = ["def nested(x):", "    g, y = abs, x[0]"], 8
    for k in range(depth):
        pad = "    " * (k + 1)
        lines += [f"{pad}if x[{k % 3}] > {k - 20}.0:", f"{pad}    g, y = abs, y * x[1]"]
    for k in reversed(range(depth)):
        pad = "    " * (k + 1)
        lines += [f"{pad}else:", f"{pad}    g = {'float' if k % 2 else 'abs'}"]
    lines.append("    return g(y)")
    path = tmp_path / "nested.py"
    path.write_text("\n".join(lines))
    space, steps, plain = {}, [], Interpreter.statement
    exec(compile(path.read_text(), str(path), "exec"), space)
    monkeypatch.setattr(Interpreter, "statement", lambda *xs: steps.append(1) or plain(*xs))
    x, counts = np.array([1.5, 0.9, 2.0]), []
    with testing.recorded_only():
        want = gradient(space["nested"], x)
    for times in (8, 0):  # the most statements, as a multiple of those of the attempts before
        monkeypatch.setattr(attempts, "_TIMES_STEPS", times)
        monkeypatch.setattr(attempts, "_FEW_STEPS", 0)
        testing.forget(space["nested"])
        with testing.transformed_only():
            assert_close(gradient(space["nested"], x), want)
        counts.append(len(steps))
        steps.clear()
    assert counts[1] < counts[0] < 5000
