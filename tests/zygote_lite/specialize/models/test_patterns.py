"""`match` in transformed code, over numbers, texts, tuples, lists and dicts."""

import numpy as np
import pytest

from zygote_lite import gradient, testing, value_and_grad

V = np.array([1.0, 2.0])


def literals(kind, x):
    match kind, x:
        case "a", v:
            return v * v
        case "b" | "c", _:
            y = x**3
        case _, v if v > 0:
            y = 2.0 * v
        case _:
            y = -x
    return y * x


def numbers(kind, x):
    match kind:
        case 0:
            return x
        case 1 | 2 if x > 1.0:
            x = x * x
        case int(k) if k > 3:
            x = x * k
        case float():
            x = x * 7.0
        case None:
            x = x * 5.0
        case _:
            x = x * 3.0
    return x * x


def structures(kind, x):
    match kind:
        case []:
            return x
        case [a]:
            return a * x
        case (a, *rest):
            return a * rest[0] * rest[-1] * x
        case {"w": w, **others} | {"v": w, **others}:
            return w * w * x * (1.0 + len(others))
        case {}:
            return x * 9.0
        case str():
            return x * 8.0
    return x * 7.0


CASES = [
    (literals, ["a", "b", "c", "d"]), (numbers, [0, 1, 2, 3, 4, 2.5, None, "text"]),
    (structures, [[], [2.0], [2.0, 3.0], (2.0, 3.0, 4.0), {"w": 2.0}, {"v": 2.0, "u": 1.0},
                  {"u": 1.0}, "text", 3.0, None]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "kinds"), CASES)
def test_transformed_code_answers(f, kinds):
    for kind in kinds:
        for x in (0.5, 1.5, -0.5, np.float64(1.5)):
            with testing.transformed_only(), testing.compared():
                y, d = value_and_grad(f, 1)(kind, x)
            assert y == f(kind, x)
            assert d == pytest.approx((f(kind, x + 1e-6) - f(kind, x - 1e-6)) / 2e-6, rel=1e-8)


def test_an_array_is_a_sequence_from_numpy_2_5_on():
    is_sequence = bool(np.ndarray.__flags__ & 1 << 5)
    for _ in range(3):
        assert value_and_grad(structures, 1)(V, 0.5) == (
            pytest.approx(structures(V, 0.5)),
            pytest.approx(V[0] * V[1] * V[-1] if is_sequence else 7.0),
        )


def test_lengths_that_change():
    for kind in ([], [2.0], [2.0, 3.0], [2.0, 3.0, 4.0], [2.0], []):
        for _ in range(3):
            assert value_and_grad(structures, 1)(kind, 0.5)[0] == structures(kind, 0.5)


class Pair:
    __match_args__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


PAIR = Pair(2.0, 3.0)


def attributes(x):
    match PAIR:
        case [_, _]:
            return 0.0
        case Pair(a, b=b):
            return x * a * b
    return x


def test_attributes_are_left_to_the_tape():
    assert testing.why_recorded(attributes, 2.0) is not None
    for _ in range(3):
        assert value_and_grad(attributes)(2.0) == (12.0, 6.0)


def test_the_names_that_a_pattern_takes_by_place_may_depend_on_a_number():
    def loss(x, n):
        class Pair:
            __match_args__ = ("a" if n > 1 else "b",)

            def __init__(self):
                self.a, self.b = x, x * x

        match Pair():
            case Pair(v):
                return v * 1.0

    slopes = [gradient(loss, 3.0, n)[0] for n in (2, 0, 2, 0, 0, 2)]
    assert slopes == [1.0, 6.0, 1.0, 6.0, 6.0, 1.0]


class Counted:
    def __init__(self, x):
        self.count, self.x = 0.0, x

    @property
    def read(self):
        self.count += 1.0
        return self.count * self.x


def test_a_computed_attribute_is_read_once():
    def f(x):
        match Counted(x):
            case Counted(absent=y):
                return y
            case Counted(read=y):
                return x * y

    with testing.compared():
        assert [value_and_grad(f)(0.5) for _ in range(3)] == [(0.25, 1.0)] * 3


def test_rows_of_data_are_a_sequence():
    def f(x, rows):
        match rows:
            case [_, *_]:
                total = 10.0 * x
            case _:
                total = x
        for a, _, _ in rows:
            total = total + x * a
        return total

    rows = [(1.0 * i, 2, f"n{i}") for i in range(300)]
    for _ in range(4):
        assert value_and_grad(f)(2.0, rows) == (89720.0, 44860.0)
