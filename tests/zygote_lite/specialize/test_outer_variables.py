"""Variables of functions around, and of modules, that programs assign: counters, last values.

The oracle of effects is the function itself, called as it is; that of gradients are differences.
"""

import contextlib
import math
import sys

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_like_the_tape
from zygote_lite import grad, jacfwd, jvp, linearize, testing, value_and_grad
from zygote_lite.modes import leaving

HERE = sys.modules[__name__]
X = np.array([1.0, 2.0, 3.0])
POINTS = (X, X, X * 1.5, X * 0.5, np.array([2.0, 0.0, 1.0]), np.array([1.0, -1.0, 2.0]), X)
COUNT, RATE, LAST = 0, 1.0, None


def counter():
    n = 0

    def loss(x):
        nonlocal n
        n += 1
        return np.sum(x * x) * n

    return loss, lambda: n


def shared_by_two():
    n = 0

    def step(x):
        nonlocal n
        n += 1
        return x * n

    def loss(x):
        return np.sum(step(x) * x) + np.sum(step(x)) * n

    return loss, lambda: n


def on_paths():
    best, steps = math.inf, 0

    def loss(x):
        nonlocal best, steps
        value = np.sum(x * x)
        for i in range(3):
            steps += i
            if x[i] > 1.0:
                steps += 1
        if value < best:
            best = float(value)
        return value + steps * x[0]

    return loss, lambda: (best, steps)


def swapped():
    a, b = 1, 10.0

    def loss(x):
        nonlocal a, b
        a, b = b, a
        return np.sum(x) * a

    return loss, lambda: (a, b)


def last_point():
    last = None

    def loss(x):
        nonlocal last
        far = 0.0 if last is None else np.sum((x - last) ** 2)
        last = x.copy()
        return np.sum(x * x) + far

    return loss, lambda: last


def smoothed():
    mean = 0.0

    def loss(x):
        nonlocal mean
        for i in range(3):
            mean = 0.9 * mean + 0.1 * x[i]
        return mean * mean + np.sum(x)

    return loss, lambda: mean


def raises():
    n = 0

    def loss(x):
        nonlocal n
        n += 1
        if n == 4:
            raise ValueError("four")
        return np.sum(x * x)

    return loss, lambda: n


def catches():
    n = 0

    def loss(x):
        nonlocal n
        n += x.size
        try:
            if x[0] > 1.5:
                raise KeyError("large")
        except KeyError:
            n = -1
        return np.sum(x * x) * (n + 2)

    return loss, lambda: n


def of_a_decorator():
    calls = 0

    def counted(f):
        def inner(*xs):
            nonlocal calls
            calls += 1
            return f(*xs)

        return inner

    return counted(lambda x: np.sum(x**3)), lambda: calls


def of_a_generator():
    n = 0

    def turns(x):
        nonlocal n
        for i in range(3):
            n += 1
            yield x[i] * n

    def loss(x):
        return sum(turns(x))

    return loss, lambda: n


def in_an_array_too():
    row, k = np.zeros(3), 0

    def loss(x):
        nonlocal k
        row[k % 3] = x[0]
        k += 1
        return np.sum(row * x)

    return loss, lambda: (row.tolist(), k)


def global_on_paths():
    def loss(x):
        global COUNT, RATE, LAST
        for i in range(3):
            COUNT += i
            if x[i] > 1.5:
                RATE = RATE * 0.5
        LAST = np.ones(2)
        return np.sum(x * x) * HERE.COUNT + RATE * x[0]

    return loss, lambda: (COUNT, RATE, LAST)


class Counted:
    """A class that counts the calls of its objects, and how many it has."""

    calls, made, scale = 0, 0.5, 2.0

    def __init__(self, rate):
        Counted.made += 1
        self.rate = rate * Counted.made

    def loss(self, x):
        """Count the call, in the class of the object."""
        type(self).calls += 1
        return np.sum(x * x) * self.rate * Counted.calls

    @classmethod
    def tick(cls, n):
        """Count something else."""
        cls.calls = cls.calls + n
        return cls.calls


class Inheriting(Counted):
    """A class that finds the counter in another."""

    calls = 10


MODEL, OTHER = Counted(1.0), Inheriting(0.5)


def scaled(x):
    scaled.calls += 1
    return x * scaled.calls


def numbers_of_classes():
    Counted.calls, Counted.made, Inheriting.calls, scaled.calls = 0, 0.5, 10, 0
    return Counted.calls, Counted.made, Inheriting.calls, scaled.calls, vars(OTHER)


def told_of_classes():
    return Counted.calls, Counted.made, Inheriting.calls, scaled.calls, vars(OTHER)


def in_a_class():
    numbers_of_classes()
    return lambda x: MODEL.loss(x) * Counted.scale, told_of_classes


def in_two_classes():
    numbers_of_classes()

    def loss(x):
        y = OTHER.loss(x) + MODEL.loss(x)
        if x[0] > 1.0:
            y = y * Inheriting.tick(2)
        for i in range(3):
            Counted.calls += x[i] > 1.5
        return y * OTHER.calls + MODEL.calls * x[1]

    return loss, told_of_classes


def of_objects_made_inside():
    numbers_of_classes()
    return lambda x: np.sum(x) * Counted(x[0]).rate + Counted(2.0).rate * x[1], told_of_classes


def of_a_function():
    numbers_of_classes()

    def loss(x):
        if x[1] == 0.0:
            scaled.calls = True
        y = scaled(x[0]) + scaled(np.sum(x))
        scaled.calls -= 0.5
        if scaled.calls == 4.5:
            raise ValueError("five")
        return y * scaled.calls

    return loss, told_of_classes


def raises_after_a_class_has_counted():
    numbers_of_classes()

    def loss(x):
        try:
            Counted.calls += 1
            if Counted.calls % 2:
                raise KeyError(x)
            Inheriting.calls += 1
        except KeyError:
            Counted.made += 1.0
        if Counted.calls == 5:
            raise ValueError("five")
        return np.sum(x * x) * Counted.made * Inheriting.calls

    return loss, told_of_classes


def default_that_a_class_has():
    OTHER.__dict__.clear()
    OTHER.rate = 0.5

    def loss(x):
        if x[0] < 1.2:
            OTHER.made += 1
        return np.sum(x * x) * OTHER.rate

    return loss, lambda: vars(OTHER).pop("made", None)


def class_in_a_nested_gradient():
    numbers_of_classes()

    def loss(x):
        Counted.calls += 1
        return np.sum(grad(lambda y: np.sum(y**3) * Counted.calls)(x))

    return loss, told_of_classes


def class_by_another_name():
    numbers_of_classes()

    def loss(x):
        Counted.made += 1
        return np.sum(x) * Inheriting.made + super(Inheriting, OTHER).calls * x[0]

    return loss, told_of_classes


def class_given_what_is_active():
    numbers_of_classes()

    def loss(x):
        Counted.made = np.sum(x)
        return Counted.made * x[0]

    return loss, lambda: Counted.calls


def in_a_nested_gradient():
    n = 1

    def cube(y):
        nonlocal n
        n += 1
        return np.sum(y**3) * n

    return lambda x: np.sum(grad(cube)(x)), lambda: n


def in_recursion():
    n = 0

    def power(x, k):
        nonlocal n
        n += 1
        return x if k == 0 else x * power(x, k - 1)

    return lambda x: power(x[0], 9) + np.sum(x), lambda: n


TRANSFORMED = [counter, shared_by_two, on_paths, swapped, last_point, smoothed, raises, catches,
               of_a_decorator, of_a_generator, in_an_array_too, global_on_paths, in_a_class,
               in_two_classes, of_objects_made_inside, of_a_function,
               raises_after_a_class_has_counted, class_by_another_name]  # fmt: skip
OTHERS = [in_a_nested_gradient, in_recursion, class_in_a_nested_gradient,
          class_given_what_is_active]  # fmt: skip
LEFT = [default_that_a_class_has]  # at some calls


def called(make, wrap):
    """Return what calls give, and what the variables hold after each."""
    vars(HERE).update(COUNT=0, RATE=1.0, LAST=None)
    f, told = make()
    call, found = wrap(f), []
    for x in POINTS:
        try:
            y = call(x.copy())
        except ValueError as error:
            y = str(error)
        found.append((y, repr(told())))
    return found


def as_it_is(f):
    return f


@pytest.mark.parametrize("make", [*TRANSFORMED, *OTHERS, *LEFT])
def test_variables_are_left_as_the_function_leaves_them(make):
    want = called(make, as_it_is)
    for _ in range(2):  # the second time the code is there, for other variables
        for (found, now), (y, held) in zip(called(make, value_and_grad), want, strict=True):
            assert now == held
            assert found == y if isinstance(y, str) else np.isclose(found[0], y)


@pytest.mark.parametrize("make", [*TRANSFORMED, *OTHERS, *LEFT])
def test_gradients_are_those_of_the_tape(make):
    with testing.recorded_only():
        want = called(make, value_and_grad)
    found = called(make, value_and_grad)
    assert_like_the_tape([y for y, _ in found], [y for y, _ in want])


@pytest.mark.parametrize("make", TRANSFORMED)
def test_code_answers_and_the_tape_agrees(make):
    testing.forget()
    with testing.observed() as seen:
        called(make, value_and_grad)
    assert seen[-1].tier == "transformed", seen[-1].reason
    with testing.compared(), testing.strict():
        found = called(make, value_and_grad)
    assert [now for _, now in found] == [held for _, held in called(make, as_it_is)]


@pytest.mark.parametrize("make", [counter, on_paths, smoothed, catches, of_a_generator])
def test_gradients_are_those_of_differences(make):
    direction, point = np.array([0.5, 1.0, -0.25]), 1.25 * X

    def at_the_third_call(ask):
        vars(HERE).update(COUNT=0, RATE=1.0, LAST=None)
        f, _ = make()
        for x in POINTS[:2]:
            f(x)
        return ask(f)

    up, down = (at_the_third_call(lambda f, x=point + h * direction: f(x)) for h in (1e-6, -1e-6))
    for _ in range(3):
        slope = at_the_third_call(lambda f: grad(f)(point)) @ direction
        assert np.isclose(slope, (up - down) / 2e-6, rtol=1e-5)
        assert np.isclose(at_the_third_call(lambda f: jvp(f, (point,), (direction,))[1]), slope)


@pytest.mark.parametrize("make", OTHERS)
def test_the_tape_answers_for_the_others(make):
    assert testing.why_recorded(make()[0], X) is not None


def test_a_global_is_given_nothing_active():
    def loss(x):
        global LAST
        for i in range(3):
            LAST = x[i] * 2.0
        return np.sum(x)

    assert "differentiated" in testing.why_recorded(loss, X)


def test_two_cells_that_are_one_are_left_to_the_tape():
    f, _ = swapped()
    for _ in range(3):
        grad(f)(X)
    one = type(f)(f.__code__, f.__globals__, closure=(f.__closure__[0],) * 2)
    with testing.observed() as seen:
        grad(one)(X)
    assert seen[-1].tier == "recorded"


def test_the_array_that_is_assigned_is_the_argument_itself():
    last = None

    def loss(x):
        nonlocal last
        last = x
        return np.sum(x * x)

    for _ in range(4):
        x = X.copy()
        grad(loss)(x)
        assert last is x


def test_an_error_of_the_program_leaves_nothing_for_later_calls():
    def loss(x):
        nonlocal calls
        calls += 1
        try:
            if x > 1.0:
                x = x + sum(LAST)
        except ValueError:
            x = 0.0
        return x * 2.0

    calls = 0
    with testing.strict():
        for x in (0.5, 0.5, 0.5):
            grad(loss)(x)
        with pytest.raises(TypeError):
            grad(loss)(4.0)
    assert leaving.suspected is None


@pytest.mark.parametrize(
    "mode", [contextlib.nullcontext, testing.transformed_only, testing.compared]
)
@pytest.mark.parametrize("is_jacobian", [False, True])
def test_linearize_and_jacfwd_have_effects_once_in_each_mode(mode, is_jacobian):
    count, seen = 0, np.zeros(1)

    def f(x):
        nonlocal count
        count += 1
        seen[0] += 1.0
        return x * x * count

    x = np.array([0.5, 2.0])
    testing.forget(f)
    with mode():
        for n in range(1, 4):
            if is_jacobian:
                assert jacfwd(f)(x).tolist() == np.diag(2 * n * x).tolist()
            else:
                y, push = linearize(f, x)
                assert y.tolist() == (n * x * x).tolist()
                assert push(np.ones(2)).tolist() == (2 * n * x).tolist()
            assert (count, seen[0]) == (n, n)
