"""Iterators through which a gradient passes are, to the program, what they were."""

import array
import bisect
import collections
import heapq
import inspect
import itertools
import math
import operator
import re
import statistics
import types
from collections.abc import Iterator

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import DifferentiationError, grad, gradient, jvp, pullback
from zygote_lite._python.library.c_iterators import _differ, look_ahead


def squares(x):
    yield x
    yield x * x


ORDERED = collections.OrderedDict()
KINDS = {
    "map": lambda x: isinstance(map(lambda v: v * v, [x]), map),
    "not_list": lambda x: isinstance(map(lambda v: v * v, [x]), list),
    "zip": lambda x: isinstance(zip([x], [x]), zip),
    "enumerate": lambda x: isinstance(enumerate([x]), enumerate),
    "generator": lambda x: isinstance(squares(x), types.GeneratorType),
    "expression": lambda x: isinstance((v * x for v in [x]), types.GeneratorType),
    "iterator": lambda x: isinstance(map(lambda v: v * v, [x]), Iterator),
    "type": lambda x: type(zip([x])) is zip,
    "list": lambda x: type(iter([x])) is type(iter([])),
    "reversed list": lambda x: type(reversed([x])) is type(reversed([])),
    "reversed tuple": lambda x: type(reversed((x,))) is reversed,
    "items": lambda x: type(iter({1: x}.items())) is type(iter({}.items())),
    "ordered": lambda x: type(iter(collections.OrderedDict(a=x))) is type(iter(ORDERED)),
    "array": lambda x: type(iter(np.array([x]))) is type(iter(np.ones(1))),
    "calls": lambda x: isinstance(iter(lambda: x, 5.0), type(iter(int, 1))),
    "list is no generator": lambda x: inspect.isgenerator(iter([x])),
    "iterated twice": lambda x: isinstance(iter(v for v in [x]), types.GeneratorType),
    "length of none": lambda x: operator.length_hint(map(abs, [x]), 3) == 3,
}
HINTS = {
    "list": lambda x: operator.length_hint(iter([x, x])),
    "reversed": lambda x: operator.length_hint(reversed((x, x))),
    "method": lambda x: iter({1: x, 2: x}.values()).__length_hint__(),
    "repeat": lambda x: operator.length_hint(itertools.repeat(x, 4)),
}


@pytest.mark.parametrize("name", HINTS)
def test_how_much_is_left_of_an_iterator_is_refused(name):
    """The generator that stands for it does not know: its hint was 0, and so was the gradient."""
    hint = HINTS[name]
    for _ in range(3):
        with pytest.raises(DifferentiationError, match=r"`__length_hint__` of an iterator.*ZL027"):
            gradient(lambda x: x * hint(x), 2.0)


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_an_iterator(name):
    kind = KINDS[name]

    def f(x):
        return x * 2.0 if kind(x) else x * 3.0

    y, back = pullback(f, 2.0)
    assert y == f(2.0)
    assert back(1.0)[1] == f(1.0)


def test_looking_at_an_iterator_does_not_use_it_up():
    def f(x):
        m = map(lambda v: v * v, [x, x])
        isinstance(m, map)
        return sum(m) + x

    assert pullback(f, 3.0)[0] == 21.0
    assert gradient(f, 3.0) == (13.0,)


def test_an_iterator_is_its_own_iterator():
    def f(x):
        m = map(lambda v: v * x, [1.0, 2.0, 3.0])
        first = next(m)
        return first * 10.0 + sum(iter(m))

    assert pullback(f, 2.0)[0] == f(2.0)
    assert gradient(f, 2.0) == (15.0,)


def test_a_function_without_a_gradient_takes_an_iterator():
    def count(values):
        return sum(1 for _ in values)

    def f(x):
        rest = iter(x)
        next(rest)
        return count(v for v in x) * x[0] + count(zip(x, rest)) * sum(rest) + count(rest) * x[1]

    rules, x = RuleSet("of a test"), np.array([0.5, 1.5, 2.5, 3.5])
    rules.constant(count)
    rules.register()
    try:
        for _ in range(3):
            assert gradient(f, x)[0].tolist() == [4.0, 0.0, 0.0, 0.0]
        assert jvp(f, (x,), (x,)) == (2.0, 2.0)
    finally:
        rules.unregister()


def test_compiled_code_that_takes_an_iterator_is_refused_by_the_line():
    with pytest.raises(DifferentiationError, match=r"iterators\.py:\d+: code that .* \[ZL027\]$"):
        grad(lambda x: array.array("d", (v for v in x))[0])(np.ones(2))


def test_an_iterator_as_the_value_is_refused():
    with pytest.raises(DifferentiationError, match="squares returns an iterator"):
        pullback(squares, 2.0)


ITERABLES = {
    "dict_values": lambda x: dict(enumerate(x)).values(),
    "deque": collections.deque,
    "generator": lambda x: (v * v for v in x),
    "map": lambda x: map(abs, x),
    "array": lambda x: x,
}
OF_ITERABLES = {
    "prod": math.prod,
    "prod_from_active": lambda xs: (lambda ys: math.prod(ys, start=ys[1]))([*xs]),
    "fsum": math.fsum,
    "dist": lambda xs: math.dist([*xs], np.array([0.1, 0.2, 0.3])),
    "mean": statistics.mean,
    "variance": statistics.variance,
    "geometric_mean": statistics.geometric_mean,
}


@pytest.mark.parametrize("name", OF_ITERABLES)
@pytest.mark.parametrize("kind", ITERABLES)
def test_a_function_of_numbers_takes_any_iterable(name, kind):
    check_gradient(lambda x: OF_ITERABLES[name](ITERABLES[kind](x)), np.array([0.5, 1.5, 0.7]))


def test_a_product_of_arrays_and_objects():
    class Shifted:
        def __init__(self, value):
            self.value = value

        def __mul__(self, other):
            return Shifted(self.value * other.value + 1.0)

    def of_objects(x):
        return math.prod([Shifted(x[1]), Shifted(x[2])], start=Shifted(x[0])).value

    x = np.array([0.5, 1.5, 0.7])
    check_gradient(of_objects, x)
    check_gradient(lambda x: math.prod([x, x + 1.0, 2.0])[1] + math.prod((), start=x[0]), x)


TEXTS = {
    "f_string": lambda x: float(f"{x:.6f}") * x,
    "percent": lambda x: float("%.17g" % x) * x,  # noqa: UP031 - the operator is meant
    "str": lambda x: float(str(x)) * x,
    "repr": lambda x: float(repr(x)) * x,
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_number_made_of_a_text_of_a_number_is_refused(name):
    with pytest.raises(DifferentiationError, match=r"test_iterators\.py:\d+: float of \(str\)"):
        gradient(TEXTS[name], 2.0)


def test_a_text_that_is_only_read_stops_nobody():
    seen = []

    def f(x):
        seen.append(f"x = {x:.1f}, " + str(x).upper())
        return x * x

    assert gradient(f, 3.0) == (6.0,)
    assert seen == ["x = 3.0, 3.0"]


TAKEN = {
    "islice_up_to_nothing": lambda it, x: itertools.islice(it, 3, 0),
    "islice_behind_its_end": lambda it, x: itertools.islice(it, 5, 2),
    "islice_by_steps": lambda it, x: itertools.islice(it, 1, 6, 2),
    "takewhile": lambda it, x: itertools.takewhile(lambda v: v < 2.5 * x, it),
    "zip_of_one": lambda it, x: map(sum, zip(it, it, it)),
    "zip_longest": lambda it, x: map(
        sum, itertools.zip_longest(itertools.islice(it, 3), it, [], fillvalue=x)
    ),
    "pairwise": lambda it, x: itertools.starmap(operator.sub, itertools.pairwise(it)),
    "accumulate": lambda it, x: itertools.accumulate(itertools.islice(it, 4)),
    "compress": lambda it, x: itertools.compress(it, [0, 1, 1, 0, 1]),
    "combinations": lambda it, x: map(sum, itertools.combinations(it, 2)),
    "permutations": lambda it, x: map(sum, itertools.permutations(itertools.islice(it, 3))),
    "with_replacement": lambda it, x: map(
        sum, itertools.combinations_with_replacement(itertools.islice(it, 3), 2)
    ),
    "groupby": lambda it, x: (
        sum(group) * (2 + key) for key, group in itertools.groupby(it, lambda v: v > 3.5 * x)
    ),
    "repeat": lambda it, x: map(sum, zip(it, itertools.repeat(next(it), 3))),
    "count": lambda it, x: map(sum, zip(itertools.count(next(it), next(it)), it)),
    "of_nothing": lambda it, x: map(
        sum, itertools.chain(zip(), itertools.pairwise([next(it)]), itertools.accumulate([]))
    ),
    "heappushpop": lambda it, x: [heapq.heappushpop(heap, v) for heap in [[x, 4 * x]] for v in it],
    "bisect": lambda it, x: [
        x * place([1, 2, 2, 3], n, key=lambda k: k)
        for n in range(4) for place in (bisect.bisect_left, bisect.bisect_right)
    ],
    "extremes": lambda it, x: [
        max(it, key=lambda v: -abs(v - 2.2 * x)), min([], key=abs, default=x),
        max([x, 3 * x], key=abs), max([], default=2 * x),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_of_an_iterator_and_what_is_left(name):
    taken = TAKEN[name]

    def f(x):  # which is linear
        it = iter([x * n for n in (1, 3, 2, 5, 4, 7, 6, 8)])
        total = 0.0
        for v in taken(it, x):
            total = total * 1.5 + v
        for v in it:
            total = total * 1.25 + v
        return total

    assert pullback(f, 2.0)[0] == pytest.approx(f(2.0), rel=1e-14)
    assert gradient(f, 2.0) == (pytest.approx(f(1.0), rel=1e-14),)


CHANGED = {
    "keys": (lambda x: {1: x, 2: x}, lambda d: d, lambda d: d.pop(1)),
    "values": (lambda x: {1: x, 2: x}, lambda d: d.values(), lambda d: d.pop(1)),
    "items": (lambda x: {1: x, 2: x}, lambda d: d.items(), lambda d: d.update({3: 1.0})),
    "last": (lambda x: {1: x}, lambda d: d.items(), lambda d: d.update({3: 1.0})),
    "set": (lambda x: {x, 2.0 * x}, lambda d: d, lambda d: d.add(0.0)),
    "deque": (lambda x: collections.deque([x, x]), lambda d: d, lambda d: d.append(0.0)),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_container_that_changes_its_size_in_a_loop_raises_what_it_raises(name):
    make, walked, change = CHANGED[name]

    def f(x):
        d = make(x)
        for _ in map(lambda v: v, walked(d)):
            change(d)
        return x

    with pytest.raises(RuntimeError) as expected:
        f(2.0)
    with pytest.raises(RuntimeError) as found:
        gradient(f, 2.0)
    assert str(found.value) == str(expected.value)


def test_a_mapping_says_by_its_keys_what_a_dict_is_made_of():
    class Pairs:
        def __init__(self, x):
            self.x = x

        def keys(self):
            return [1.0, 3.0]

        def __getitem__(self, key):
            return self.x * key

    def f(x):
        d = dict(Pairs(x), more=x)
        d.update(Pairs(2.0 * x))
        return sum(d.values())

    assert pullback(f, 2.0)[0] == f(2.0)
    assert gradient(f, 2.0) == (9.0,)


def test_an_iterator_that_cannot_be_looked_into_is_left_alone():
    for make in (lambda: map([].append, [1, 2]), lambda: re.finditer("a", "aa")):
        it = make()
        assert look_ahead(None, it) is None
        assert len([*it]) == len([*make()])
    it = iter("text")
    assert look_ahead(None, it, 1) == ("e", None)
    assert [*it] == [*"text"]


def test_which_elements_cannot_be_the_same():
    one, other = [1.0], [1.0]
    assert not _differ(one, one)
    assert _differ(one, other)
    assert _differ(1.0, "1")
    assert not _differ(1000.5, float("1000.5"))
    assert not _differ((1.0,), (2.0,))


@pytest.mark.parametrize("start", ["", b"", bytearray()], ids=["str", "bytes", "bytearray"])
def test_a_sum_of_texts_is_the_error_of_python(start):
    def f(x):
        return sum((x for _ in range(2)), start)

    with pytest.raises(TypeError, match=r"sum\(\) can't sum") as plain:
        f(1.0)
    with pytest.raises(TypeError) as found:
        gradient(f, 1.0)
    assert str(found.value) == str(plain.value)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: reversed(x)[0],
        lambda x: zip(x, x)[0][0],
        lambda x: map(abs, x) + [1.0],
        lambda x: 2 * (v for v in x),
        lambda x: np.mean(reversed(x)),
        lambda x: np.stack(enumerate(x)),
        lambda x: x.__add__(iter(x)),
        lambda x: sum(1.0 for _ in itertools.product(x, repeat=-1)),
        lambda x: sum(1.0 for _ in x[0]),
        lambda x: [*map(list, x)],
    ],
    ids=["item", "row", "plus", "times", "mean", "stack", "add", "product", "number", "list"],
)
def test_what_python_refuses_of_an_iterator_or_a_number_is_refused(f):
    x = np.array([0.3, 0.5])
    with pytest.raises((TypeError, ValueError)) as plain:
        f(x)
    with pytest.raises(plain.type) as found:
        grad(f)(x)
    assert str(found.value) == str(plain.value)


def test_an_iterator_is_no_array_and_equals_itself():
    x = np.array([0.3, 0.5])
    with pytest.raises(DifferentiationError, match=r"make a list of it first \[ZL027\]"):
        grad(lambda x: np.sum(reversed(x)))(x)

    def f(x):
        it = reversed([x])
        return x * (it == it) + 2 * x * (it != it)

    assert grad(f)(2.0) == 1.0


def test_a_number_of_numpy_is_not_unpacked():
    def f(x):
        a, b = x[0]
        return a + b

    with pytest.raises(TypeError, match="cannot unpack non-iterable numpy"):
        grad(f)(np.ones(2))
