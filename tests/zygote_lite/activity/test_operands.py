"""Arrays of objects: what is written into an object comes back through them, without a walk."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import gradient
from zygote_lite._activity import activity, doubts, walk
from zygote_lite.testing import recorded_only


class Part:
    def __init__(self, w):
        self.w = w


outside, other = Part(1.0), Part(2.0)
array = np.array([outside, other], dtype=object)
table = np.array([[outside, other], [other, outside]], dtype=object)


def read_by_a_function(parts):
    return parts[0].w


WAYS = {
    "item": lambda: array[0].w,
    "last": lambda: array[-2].w,
    "tuple": lambda: table[1, 1].w,
    "row": lambda: table[0][0].w,
    "slice": lambda: array[:1][0].w,
    "step": lambda: array[::-1][1].w,
    "mask": lambda: array[np.array([True, False])][0].w,
    "compared": lambda: array[array == outside][0].w,
    "list": lambda: array[[0, 1]][0].w,
    "Ellipsis": lambda: array[...][0].w,
    "None": lambda: array[None][0, 0].w,
    "loop": lambda: [part.w for part in array][-2],
    "rows": lambda: [row[0].w for row in table][-2],
    "generator": lambda: next(part.w for part in array),
    "flat": lambda: array.flat[0].w,
    "loop over flat": lambda: [part.w for part in table.flat][-1],
    "iterator": lambda: next(iter(array)).w,
    "tolist": lambda: table.tolist()[1][1].w,
    "item()": lambda: array.item(0).w,
    "list()": lambda: list(array)[-2].w,
    "unpacked": lambda: (lambda first, *rest: first.w)(*array),
    "T": lambda: table.T[1][1].w,
    "ravel": lambda: table.ravel()[3].w,
    "copy": lambda: array.copy()[0].w,
    "enumerate": lambda: dict(enumerate(array))[0].w,
    "zip": lambda: [part.w for part, _ in zip(array, [1], strict=False)][-1],
    "sorted": lambda: sorted(array, key=lambda part: part is other)[0].w,
    "map": lambda: [*map(lambda part: part.w, array)][-2],
    "a function": lambda: read_by_a_function(array),
    "a function of a part": lambda: read_by_a_function(table[0][[0]]),
    "in a list": lambda: read_by_a_function([array][0]),
    "in an object": lambda: Part(array).w[0].w,
}


@pytest.mark.parametrize("given_up", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_written_comes_back_through_arrays_of_objects(way, given_up, monkeypatch):
    if given_up:
        monkeypatch.setattr(doubts, "may_reach_active", lambda *xs, given=0: True)

    def f(x):
        outside.w = x * 3.0
        other.w = 2.0
        return WAYS[way]() * x

    for _ in range(3):
        assert_slopes(gradient(f, 1.5), f, (1.5,), 1e-6)
    with recorded_only():
        assert_slopes(gradient(f, 1.5), f, (1.5,), 1e-6)


def test_what_is_written_after_an_array_was_made_inside():
    def f(x):
        made, others = Part(1.0), Part(2.0)
        parts = np.array([made, others], dtype=object)
        taken = parts[[0, 1]]
        made.w = x
        return taken[0].w * parts[0].w * read_by_a_function(parts[:1]) * parts.tolist()[0].w

    for _ in range(3):
        assert_slopes(gradient(f, 1.5), f, (1.5,), 1e-6)


def test_reading_arrays_of_objects_walks_nowhere(monkeypatch):
    def walked(*xs):
        if any(isinstance(x, np.ndarray | np.flatiter) for x in xs):
            raise AssertionError("a walk to the end")
        return walk.reaches_active(*xs)

    def f(x):
        outside.w = x
        total = array[0].w * len(array.shape) * array.size
        for part in array[:1]:
            total = total + part.w * array.flat[0].w * array.tolist()[0].w * table.T[0, 0].w
        return total

    for module in (activity, doubts):
        monkeypatch.setattr(module, "reaches_active", walked)
    with recorded_only():
        assert_slopes(gradient(f, 1.5), f, (1.5,), 1e-6)
