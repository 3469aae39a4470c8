"""Objects in containers that change: lists, deques, heaps and dicts of any length hold them."""

import copy
import heapq
import math
from collections import deque
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import value_and_grad

PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed
ARGUMENTS = (1.1, 0.5, 4), (0.7, 0.4, 6), (1.2, 0.3, 3)


class Body:
    def __init__(self, x, v=0.0):
        self.x = x
        self.v = v

    def step(self, h):
        self.v -= h * self.x
        self.x += h * self.v
        return self

    @property
    def energy(self):
        return self.x**2 + self.v**2

    def __add__(self, other):
        return Body(self.x + other.x, self.v + other.v)


class Sized(Body):
    def __bool__(self):
        return bool(self.x > 1)

    def __iter__(self):
        yield self.x
        yield self.v

    def __getitem__(self, i):
        return (self.x, self.v)[i]


@dataclass
class Node:
    x: float
    n: int = 0


def bodies(x, v, n, kind=Body):
    made = []
    while len(made) < n:
        made.append(kind(x * len(made), v))
    return made


@tried(*ARGUMENTS)
def particles(x, v, n):
    every, at = [], 0.0
    while at < 0.5 * n:
        every.append(Body(at, v))
        at += 0.3
    for _ in range(3):
        for body in every:
            body.step(0.1 * x)
    return sum(body.energy for body in every)


@tried(*ARGUMENTS)
def in_two_lists(x, v, n):
    every, some = [], []
    for i in range(n):
        body = Body(x * i, v)
        every.append(body)
        every.append(body)
        if i % 2:
            some.append(body)
    for body in some:
        body.x = body.x * 2 + 1
    return sum(b.x for b in every) + sum(b.energy for b in some)


@tried(*ARGUMENTS)
def written_after_it_is_kept(x, v, n):
    every = []
    for i in range(n):
        body = Body(x)
        every.append(body)
        body.x = body.x * i
        body.v = every[0].x * v
    first = every[0]
    every[0] = Body(v)
    first.x = first.x * 4 + x
    every[1], every[2] = every[2], every[1]
    return sum(b.x * i + b.v for i, b in enumerate(every)) + first.x


@tried(*ARGUMENTS)
def which_object_it_is(x, v, n):
    every, total = bodies(x, v, n), 0.0
    for a in every:
        for b in every:
            total += (a.x - b.x) ** 2 if a is not b else v
            total += x if a == b else 0.0
            total += b.x if b in every[:2] else 0.0
    middle = every[2]
    every.remove(middle)
    middle.x = 3 * x
    return total + sum(b.x for b in every) * every.index(every[1]) + middle.x


@tried(*ARGUMENTS)
def largest_and_sorted(x, v, n):
    every = [Body(x * math.sin(i + 1), v) for i in range(n)]
    best = max(every, key=lambda b: b.x)
    every.sort(key=lambda b: -b.x)
    best.v = 3 * x
    return every[0].v * best.x + every[1].x + min(every, key=lambda b: b.energy).x


@tried(*ARGUMENTS)
def operators_of_objects(x, v, n):
    total = Body(0.0)
    for body in bodies(x, v, n):
        total = total + body
    return total.energy


@tried(*ARGUMENTS)
def objects_and_lists_in_objects(x, v, n):
    every = []
    while len(every) < n:
        every.append(Body(Body(x * len(every)), [x, v]))
    for body in every:
        body.x.step(0.1)
        body.v.append(body.x.x)
        body.v[0] *= 2
    return sum(b.x.energy + sum(b.v) for b in every)


@tried(*ARGUMENTS)
def arrays_in_objects(x, v, n):
    every = []
    while len(every) < n:
        every.append(Body(x * np.arange(2.0) + len(every), np.zeros(2)))
    for _ in range(3):
        for body in every:
            body.v = body.v - v * body.x
            body.x = body.x + 0.1 * body.v
    return float(sum(b.x @ b.x for b in every))


@tried(*ARGUMENTS)
def heap_of_objects(x, v, n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, (v * math.cos(i), i, Body(x * i)))
    total = 0.0
    while heap:
        key, i, body = heapq.heappop(heap)
        total += body.x * key * i
    return total


@tried(*ARGUMENTS)
def dict_of_objects(x, v, n):
    table = {}
    for i in range(n):
        table[i] = Body(v * i)
    for key, body in table.items():
        body.x += key * x
    table[1] = Body(x)
    return sum(b.energy for b in table.values())


@tried(*ARGUMENTS)
def window_of_objects(x, v, n):
    window, total = deque(maxlen=3), 0.0
    for i in range(2 * n):
        window.append(Body(x * i, v))
        for body in window:
            body.x = body.x * 0.9 + body.v
        total += sum(b.x for b in window) / len(window)
    return total


@tried(*ARGUMENTS)
def merged_two_by_two(x, v, n):
    pool = bodies(x, v, n)
    while len(pool) > 1:
        a, b = pool.pop(0), pool.pop(0)
        pool.append(Body((a.x + b.x) * v, a.v * b.v))
    return pool[0].x * pool[0].v


@tried(*ARGUMENTS)
def truth_and_iteration(x, v, n):
    total = 0.0
    for body in bodies(x, v, n, Sized):
        if body and n:
            total += body.x
        first, second = body
        total += first * second + sum(body) + body[1]
    return total


@tried(*ARGUMENTS)
def replaced_and_copied(x, v, n):
    every = []
    for i in range(n):
        every.append(Node(x * i, i))
    changed = []
    for node in every:
        changed.append(replace(node, x=node.x * v))
    other = copy.copy(every[1])
    other.x = 7 * v
    return sum(a.x * b.x * a.n for a, b in zip(every, changed)) + other.x


@tried(*ARGUMENTS)
def none_are_made(x, v, n):
    every = []
    for i in range(n - 6):
        every.append(Body(x * i, v))
    return sum(b.x for b in every) + x**2


@pytest.mark.sampled(2)
@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, (0, 1))


LEFT = []
left = programs.declaring(LEFT)  # to the tape


@left(*ARGUMENTS)
def equality_of_a_dataclass(x, v, n):
    every = []
    for i in range(n):
        every.append(Node(v, i % 2))
    asked = Node(v, 0)
    return sum(a.x for a in every) + every.index(asked) * x + every.count(asked) + (asked in every)


class Later(Body):
    def __lt__(self, other):
        return self.v < other.v


@left(*ARGUMENTS)
def order_of_a_class(x, v, n):
    every, queue = [], []
    for i in range(n):
        every.append(Later(x * i, (i * 3) % n))
        heapq.heappush(queue, (1, every[-1]))
    ordered = sorted(every) + [min(every)]
    while queue:
        ordered.append(heapq.heappop(queue)[1])
    return sum(i * b.x for i, b in enumerate(ordered)) * v


@left(*ARGUMENTS)
def other_attributes(x, v, n):
    every = []
    for i in range(n):
        body = Body(v * i)
        every.append(body)
        body.mass = x
    return sum(b.mass * b.x for b in every) + hasattr(every[0], "mass")


@left(*ARGUMENTS)
def attributes_as_a_dict(x, v, n):
    every, total = [], 0.0
    for i in range(n):
        body = Body(x * i, v)
        table = body.__dict__
        every.append(body)
        body.x = body.x * 2
        total += table["x"]
    return total + sum(vars(b)["x"] for b in every)


@left(*ARGUMENTS)
def classes_that_differ(x, v, n):
    every = []
    for i in range(n):
        every.append(Body(x * i) if i % 2 else Node(v * i))
    return sum(b.x * (2 if isinstance(b, Body) else 1) for b in every)


@left(*ARGUMENTS)
def attributes_that_may_be_none(x, v, n):
    every = []
    for i in range(n):
        every.append(Body(x * i, None if i % 2 else v))
    return sum(b.x * (0.3 if b.v is None else b.v) for b in every)


@left(*ARGUMENTS)
def assigned_in_a_branch_before(x, v, n):
    every = []
    for i in range(n):
        body = Body(x * i, v)
        if i % 2:
            body.x = body.x * 3
            every.append(body)
    return sum(b.x * b.v for b in every)


@programs.for_each(LEFT)
def test_what_is_left_to_the_tape_is_right(f, choices):
    assert_agreement(f, *choices, argnums=(0, 1))


def test_truth_of_a_container_in_a_condition():
    def window(x, n):
        queue, total, at = deque(), 0.0, 0.0
        for _ in range(n):
            at += 0.3 * x
            queue.append((at, x * at))
            while queue and queue[0][0] < at - 1.0:
                queue.popleft()
            total += sum(v for _, v in queue) / len(queue)
            total += 0.0 if queue and len(queue) > 2 else x
        return total

    programs.assert_transformed(window, [(0.9, 12), (1.1, 12), (0.7, 3)], (0,))


def test_numbers_of_two_float_classes():
    def norms(p, n):
        x, y = p[0], 0.0  # of NumPy, and of Python
        for _ in range(n):
            radius = math.hypot(x, y)
            x, y = x + 0.1 * y / (x**2 + y**2) ** 1.5, y - 0.1 * p[1] * x / radius
        return x * y

    choices = [(np.array([1.0, 0.5]), 5), (np.array([1.2, 0.4]), 5), (np.array([1.2, 0.4]), 0)]
    programs.assert_transformed(norms, choices, (0,))


@pytest.mark.parametrize("n", [4, 7])
def test_object_that_raises_on_a_later_call(n):
    def reach(x, n):
        every = []
        for i in range(n):
            every.append(Body(x * i))
        return every[5].x * x

    assert_agreement(reach, (0.5, 6), (0.5, 6), (0.5, 6), (0.5, n), argnums=(0,))


class Weight:
    def __init__(self, w):
        self.w = w


def test_an_object_assigned_on_one_path_and_held_by_a_list_on_the_other():
    def f(x, n):
        o = Weight(x)
        kept = [o]
        if n > 2:
            o.w = 2.0 * x
        else:
            kept.append(o)
        return o.w * x

    for n, expected in ((3, (4.5, 6.0)), (1, (2.25, 3.0))) * 3:
        assert value_and_grad(f)(1.5, n) == expected
