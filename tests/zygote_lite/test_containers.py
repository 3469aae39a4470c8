"""Containers as arguments: their gradients, and what they hold afterwards."""

from collections import deque

import numpy as np
import pytest

from zygote_lite import DifferentiationError, gradient, pullback


def test_a_deque_as_the_argument():
    def f(q):
        q.append(q[0] * q[1])
        q.popleft()
        q.rotate(1)
        return q[0] * q[2]

    q = deque([1.0, 2.0, 3.0])
    y, back = pullback(f, q)
    assert y == 6.0
    for _ in range(2):
        assert back(1.0) == (None, [6.0, 3.0, 2.0])
        assert q == deque([2.0, 2.0, 3.0])


def test_a_queue_costs_what_the_users_own_steps_cost():
    def f(x):
        q = deque()
        for i in range(20_000):
            q.append(x * i)
        total = 0.0
        while q:
            total = total + q.popleft()
        return total

    assert gradient(f, 0.5) == (sum(range(20_000)),)


def test_an_exception_as_the_argument():
    assert gradient(lambda e: e.args[0] * e.args[1], ValueError(2.0, 3.0))[0].args == (3.0, 2.0)


def test_a_class_whose_fields_are_looked_at_is_refused():
    def f(x):
        class A:
            w = x

        return A.__dict__["w"] * 2.0

    with pytest.raises(DifferentiationError, match=r"test_containers.py:\d+.*__dict__"):
        gradient(f, 0.5)


def test_one_array_as_two_arguments_is_refused_by_the_call_once_it_is_written():
    def f(a, b):
        a[0] = b[1] * 2.0
        return np.sum(a * b)

    x = np.array([1.0, 2.0])
    with pytest.raises(DifferentiationError, match="are one array"):
        pullback(f, x, x)
    with pytest.raises(DifferentiationError, match="are one array"):
        pullback(f, x, x[:])
    assert pullback(lambda a, b: np.sum(a * b), x, x)[0] == 20.0
