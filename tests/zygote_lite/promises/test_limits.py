"""Limits: long loops, deep recursion, memory over many gradients, exceptions, threads."""

import copy
import functools
import gc
import math
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_same
from zygote_lite import (
    check_gradient,
    checkpoint,
    grad,
    gradient,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jvp,
    pullback,
    testing,
    value_and_grad,
    vjp,
    vmap,
)
from zygote_lite._cotangents import kinds
from zygote_lite._specialize import cache
from zygote_lite._specialize.infer.models import classes
from zygote_lite.caches import Cache

# -- length ------------------------------------------------------------------------------------


def for_loop(x, n):
    y = x
    for i in range(n):
        y = y * 0.999 + x
    return y


def while_loop(x, n):
    y, i = x, 0
    while i < n:
        y = math.sin(y) + x
        i += 1
    return y


def list_loop(x, n):
    a = [x]
    for _ in range(n):
        a.append(a[-1] * 0.999 + x)
    return a[-1]


@pytest.mark.parametrize(
    ("f", "n"), [(for_loop, 100_000), (while_loop, 30_000), (list_loop, 30_000)]
)
def test_tens_of_thousands_of_turns(f, n):
    (d,) = gradient(lambda x: f(x, n), 0.3)
    h = 1e-4
    slope = (f(0.3 + h, n) - f(0.3 - h, n)) / (2 * h)
    np.testing.assert_allclose(d, slope, rtol=1e-5)


def test_a_comprehension_and_a_generator_of_many():
    n = 20_000
    (d,) = gradient(lambda x: sum([x * i for i in range(n)]) + sum(x * i for i in range(n)), 0.5)
    assert d == n * (n - 1)


# -- depth -------------------------------------------------------------------------------------


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * 1.001, n - 1)


def odd(x, n):
    return x if n == 0 else even(x + 0.001, n - 1)


@pytest.mark.parametrize("depth", [50, 150])
def test_recursion(depth):
    (d,) = gradient(power, 1.001, depth)[:1]
    assert d == pytest.approx(depth * 1.001 ** (depth - 1))


def test_mutual_recursion():
    h = 1e-6
    slope = (even(0.5 + h, 100) - even(0.5 - h, 100)) / (2 * h)
    assert gradient(even, 0.5, 100)[0] == pytest.approx(slope)


def deepest(f):
    """Return the largest `n` for which the plain `f(n)` does not meet Python's limit, from here."""
    works, fails = 0, sys.getrecursionlimit()
    while fails - works > 1:
        n = (works + fails) // 2
        try:
            f(n)
        except RecursionError:
            fails = n
        else:
            works = n
    return works


def test_recursion_to_the_limit_of_python():
    limit = sys.getrecursionlimit()
    depth = deepest(lambda n: power(1.001, n))
    assert depth > 0.8 * limit
    d = gradient(power, 1.001, depth - 1)[0]
    assert d == pytest.approx((depth - 1) * 1.001 ** (depth - 2))
    assert sys.getrecursionlimit() == limit


class Recursive:
    """Methods, calls and operators that come back to themselves."""

    def __init__(self, number):
        self.number = number

    def method(self, x, n):
        return x if n == 0 else self.method(x * 1.001, n - 1) * 1.0

    def __call__(self, x, n):
        return x if n == 0 else self(x * 1.001, n - 1) * 1.0

    def __mul__(self, other):
        if other.number <= 0:
            return self
        return Recursive(self.number * 1.001) * Recursive(other.number - 1)


def wrapped(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


@wrapped
def by_a_decorated_function(x, n):
    return x if n == 0 else by_a_decorated_function(x * 1.001, n - 1)


def by_an_operator(x, n):
    return (Recursive(x) * Recursive(n)).number


def by_a_comprehension(x, n):
    return x if n == 0 else sum([by_a_comprehension(x * 1.001, n - 1) for _ in range(1)])


def by_a_generator(x, n):
    return x if n == 0 else sum(by_a_generator(x * 1.001, n - 1) for _ in range(1))


def by_map(x, n):
    return x if n == 0 else next(iter(map(lambda t: by_map(t, n - 1), [x * 1.001])))


def by_star(*args):
    return args[0] if args[1] == 0 else by_star(*[args[0] * 1.001, args[1] - 1])


def by_partial(x, n):
    return x if n == 0 else functools.partial(by_partial, x * 1.001)(n - 1)


def by_reduce(x, n):
    return x if n == 0 else functools.reduce(lambda a, b: by_reduce(a * b, n - 1), [x, 1.001])


def by_keywords(x, n=0):
    return x if n == 0 else by_keywords(n=n - 1, x=x * 1.001)


def by_a_closure(x, n):
    def inner():
        return by_a_closure(x * 1.001, n - 1)

    return x if n == 0 else inner()


def by_try(x, n):
    try:
        return x if n == 0 else by_try(x * 1.001, n - 1)
    finally:
        n = None


@pytest.mark.sampled(2)
@pytest.mark.skipif(
    sys.version_info[:2] == (3, 12),
    reason="Python 3.12 counts calls through C apart, against a limit that cannot be raised",
)
@pytest.mark.parametrize(
    ("f", "share"),
    [
        (Recursive(1.0).method, 1.0),
        (Recursive(1.0), 1.0),
        (by_a_decorated_function, 1.0),
        (by_an_operator, 1.0),
        (by_a_comprehension, 1.0),
        (by_a_generator, 0.8),  # here the engine has more frames for one of the user's
        (by_map, 0.6),
        (by_star, 1.0),
        (by_partial, 1.0),
        (by_reduce, 1.0),
        (by_keywords, 1.0),
        (by_a_closure, 1.0),
        (by_try, 1.0),
    ],
)
def test_recursion_of_all_kinds_to_the_limit_of_python(f, share):
    depth = int(share * (deepest(lambda n: f(0.5, n)) - 2))
    assert depth > 100
    (d,) = gradient(lambda x: f(x, depth), 0.5)
    assert d == pytest.approx(1.001**depth)


def test_recursion_by_two_functions_to_the_limit_of_python():
    depth = deepest(lambda n: even(0.5, n)) - 1
    h = 1e-6
    slope = (even(0.5 + h, depth) - even(0.5 - h, depth)) / (2 * h)
    assert gradient(even, 0.5, depth)[0] == pytest.approx(slope)


def test_a_limit_that_the_user_raised():
    depth, limit = 3_000, sys.getrecursionlimit()
    sys.setrecursionlimit(4_000)
    try:
        d = gradient(power, 1.001, depth)[0]
        assert sys.getrecursionlimit() == 4_000
    finally:
        sys.setrecursionlimit(limit)
    assert d == pytest.approx(depth * 1.001 ** (depth - 1))


def test_a_limit_that_is_the_largest_for_python():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(2**31 - 1)
    try:
        assert gradient(power, 1.5, 3)[0] == pytest.approx(3 * 1.5**2)
    finally:
        sys.setrecursionlimit(limit)


def test_a_function_reads_its_own_limit_and_sets_it():
    limit = sys.getrecursionlimit()

    def f(x):
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(before + 10)
        return before * x + sys.getrecursionlimit() * x * x

    def refused(x):
        sys.setrecursionlimit(0)
        return x

    try:
        for n in range(0, 40, 10):
            value, slope = value_and_grad(f)(2.0)
            assert value == (limit + n) * 2.0 + (limit + n + 10) * 4.0
            assert slope == limit + n + (limit + n + 10) * 4.0
            assert sys.getrecursionlimit() == limit + n + 10
        with pytest.raises(ValueError, match="greater or equal than 1"):
            gradient(refused, 2.0)
        assert sys.getrecursionlimit() == limit + 40
    finally:
        sys.setrecursionlimit(limit)


def test_endless_recursion_is_the_error_of_python():
    def endless(x):
        return endless(x * 1.0) * 2.0

    with pytest.raises(RecursionError):
        gradient(endless, 0.5)
    assert gradient(power, 2.0, 3)[0] == 12.0  # and no harm is done


# -- memory ------------------------------------------------------------------------------------


def mixed(x, v, items):
    total = x
    out = np.zeros(3)
    for i in range(3):
        if v[i] > 0.1:
            out[i] = v[i] * total
        total = total + items[i % 2] * x
        items = [*items, total]
    f = lambda y: y * total
    try:
        return f(x) + np.sum(out)
    finally:
        total = 0.0


def test_memory_is_flat_after_thousands_of_gradients():
    xs = (0.5, np.array([0.3, 0.4, 0.5]), [0.6, 0.7])
    blocks = []  # of Python's allocator, each array has one: to count them costs nothing
    for _ in range(5):
        for _ in range(500):
            gradient(mixed, *xs)
        gc.collect()
        blocks.append(sys.getallocatedblocks())
    assert max(blocks[1:]) - blocks[0] < 250, blocks  # one for every eight gradients


def test_memory_in_bytes_is_flat():
    xs = (0.5, np.array([0.3, 0.4, 0.5]), [0.6, 0.7])
    for _ in range(50):
        gradient(mixed, *xs)
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(3):
            for _ in range(40):  # traced, a gradient takes seven times as long
                gradient(mixed, *xs)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[-1] - sizes[0] < 4_000, sizes


def test_what_is_remembered_of_classes_is_bounded(monkeypatch):
    monkeypatch.setattr(kinds, "_MOST_KINDS", 8)
    tables = (kinds._kinds, kinds._whole_types, kinds._foreign, kinds._slots)
    for known in tables:
        known.clear()
    for k in range(20):
        kept = type("Kept", (), {"factor": float(k)})()
        with testing.recorded_only():
            assert gradient(lambda x, y: x * x * y.factor, 3.0, kept)[0] == 6.0 * k
        assert max(map(len, tables)) <= 8


MADE_INSIDE = """
class Kept:
    def __init__(self, x):
        self.x = x
    def name(self, k):
        return self.x * self.x * k
def f(x, k):
    return Kept(x).name(k)
"""


def test_what_is_remembered_of_the_names_in_classes_is_bounded(monkeypatch):
    monkeypatch.setattr(classes, "_MOST_NAMES", 4)
    classes._names.clear()
    for k in range(8):
        space = {}
        exec(MADE_INSIDE.replace("name", f"name_{k}"), space)
        for _ in range(3):
            assert gradient(space["f"], 3.0, float(k))[0] == 6.0 * k
        assert len(classes._names) <= 4
    assert classes._names


def test_what_is_remembered_of_functions_is_bounded(monkeypatch):
    monkeypatch.setattr(cache, "_known", Cache(2))
    made = [compile(f"def f(x): return x * x * {k}", "made", "exec") for k in range(6)]
    for code in made * 2:
        space = {}
        exec(code, space)
        for _ in range(3):
            assert gradient(space["f"], 3.0)[0] == 6.0 * made.index(code)
        assert len(cache._known) <= 4
    with testing.recorded_only():  # a mode reaches those that are not remembered any more, too
        assert gradient(space["f"], 3.0)[0] == 30.0


def test_memory_is_flat_over_new_functions():
    def once(k):
        def f(x):
            y = x
            for i in range(3):
                y = y * k + i
            return y

        return gradient(f, 0.5)

    for k in range(50):
        once(float(k))
    tracemalloc.start()
    try:
        once(1.0)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for k in range(300):
            once(float(k))
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


# -- exceptions --------------------------------------------------------------------------------


def fails_late(v, items, table):
    v[0] = v[1] * 2.0
    items.append(v[0])
    table["new"] = items[0]
    items[0] = 3.0
    raise KeyError("late")


def arguments():
    return np.array([0.5, 0.6]), [0.7], {"w": 0.8}


def test_an_exception_going_forward_leaves_what_the_plain_call_leaves():
    plain, given = arguments(), arguments()
    with pytest.raises(KeyError, match="late"):
        fails_late(*plain)
    for _ in range(2):
        again = copy.deepcopy(given)
        with pytest.raises(KeyError, match="late") as caught:
            gradient(fails_late, *again)
        assert caught.traceback[-1].name == "fails_late"
        assert_same(again, plain)
    assert gradient(lambda x: x * x, 0.5) == (1.0,)


def writes(v, items, table):
    v[0] = v[1] * 2.0
    items.append(v[0] * table["w"])
    table["w"] = items[1] * items[0]
    v *= 2.0
    return np.sum(v) * table["w"]


@pytest.mark.parametrize("wrong", [np.ones(3), "text", [1.0]])
def test_an_exception_going_back_leaves_the_arguments(wrong):
    plain, given = arguments(), arguments()
    writes(*plain)
    _y, back = pullback(writes, *given)
    assert_same(given, plain)
    with pytest.raises((TypeError, ValueError)):
        back(wrong)
    assert_same(given, plain)
    first = back(1.0)
    assert_same(given, plain)
    assert_same(back(1.0), first)


def test_an_exception_in_the_middle_of_going_back(monkeypatch):
    from rulescore import RuleSet

    def weak(x):
        return x * 1.0

    rules = RuleSet("weak")

    @rules.rule(weak) if hasattr(rules, "rule") else rules(weak)
    def _(x: float):
        def weak_pullback(dy):
            raise OverflowError("going back")

        return x * 1.0, weak_pullback

    def f(v, items):
        v[0] = v[1] * 3.0
        items[0] = weak(v[0])
        v[1] = items[0] * 2.0
        items.append(v[1])
        return items[1] * v[0]

    rules.register()
    try:
        plain, given = ([np.array([0.5, 0.6]), [0.7]] for _ in range(2))
        f(*plain)
        _y, back = pullback(f, *given)
        for _ in range(2):
            with pytest.raises(OverflowError, match="going back"):
                back(1.0)
            assert_same(given, plain)
    finally:
        rules.unregister()
    assert gradient(lambda x: x * x, 0.5) == (1.0,)


# -- threads -----------------------------------------------------------------------------------


def new_function():
    def f(x, v, items):
        total, out = x, np.zeros(3)
        for i, y in enumerate(items):
            if y < 0.0:
                continue
            try:
                total = total * y + items[i + 1]
                out[i] = total * v[i]
            except IndexError:
                total = total * x
                out[i:] = total
        return total * np.sum(out)

    return f


def test_threads_share_a_function_the_first_call_included():
    count = 8
    for _ in range(3):
        f = new_function()
        barrier = Barrier(count)

        def work(i, f=f, barrier=barrier):
            xs = (0.1 * i + 0.3, np.array([0.4, 0.5, 0.6]), [0.7, -0.2, 0.8])
            barrier.wait()
            found = [gradient(f, *xs) for _ in range(5)]
            return xs, found

        with ThreadPoolExecutor(count) as pool:
            results = list(pool.map(work, range(count)))
        for xs, found in results:
            h = 1e-6
            slope = (f(xs[0] + h, *xs[1:]) - f(xs[0] - h, *xs[1:])) / (2 * h)
            for d in found:
                assert d[0] == pytest.approx(slope, rel=1e-5)
                assert_same(d, found[0])


# -- cost --------------------------------------------------------------------------------------


def by_zip(items):
    return sum([a * b for a, b in zip(items, items)])


def by_enumerate(items):
    total = 0.0
    for i, x in enumerate(items):
        total = total + i * x
    return total


def by_next(items):
    it, total = iter(items), 0.0
    try:
        while True:
            total = total + next(it) ** 2
    except StopIteration:
        return total


def by_length(items):
    i, total = 0, 0.0
    while i < len(items):
        total = total + items[i]
        i += 1
    return total


def calls_made(f, items):
    """Return how many functions are called, and generators resumed, by a gradient."""
    count = 0

    def note(frame, event, arg):
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        gradient(f, items)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("f", [by_zip, by_enumerate, by_next, by_length])
def test_walking_over_a_list_costs_what_its_length_is(f):
    with testing.recorded_only():  # making code for a list is another cost, paid once
        gradient(f, [0.5, 0.6])
        few, many = (calls_made(f, [0.001 * i for i in range(n)]) for n in (50, 400))
    assert many < 9 * few


class Link:
    def __init__(self, value, before):
        self.value, self.before = value, before


def by_set(items):
    links, seen = [Link(1.0, None)], set()
    for x in items:
        links.append(Link(links[-1].value * x, links[-1]))
        seen.add(links[-1])
        if links[0] in seen:
            return x
    return links[-1].value * len(seen)


def by_closures(items):
    links = [Link(items[0], None)]
    scale = np.ones(1)

    def weight():
        return links[0], scale

    total = 0.0
    for x in items:
        links.append(Link(2.0, links[-1]))
        total = total + np.sum(x * scale) * len(weight())
    return total


@pytest.mark.parametrize("f", [by_set, by_closures])
def test_objects_with_links_cost_what_they_are_themselves(f):
    with testing.recorded_only():  # making code, at the third call, is another cost
        gradient(f, [0.5, 0.6])
        few, many = (calls_made(f, [0.001 * i for i in range(n)]) for n in (50, 400))
    assert many < 9 * few


def by_setdefault(x, n):
    table = {}
    for i in range(n):
        table.setdefault(i, []).append(x)
    return sum([a[0] for a in table.values()])


def by_update(x, n):
    table = {}
    for i in range(n):
        table.update({i: x})
    return sum(table.values())


def by_popitem(x, n):
    table, total = {i: x for i in range(n)}, 0.0
    while len(table) > 1:
        total = total + table.popitem()[1] + table.pop(len(table) - 1) * 2.0
        table[len(table)] = x
    return total


@pytest.mark.parametrize("f", [by_setdefault, by_update, by_popitem])
def test_a_change_of_a_dict_keeps_no_copy_of_it(f):
    gradient(f, 0.5, 3)
    peaks = []
    for n in (50, 400):
        tracemalloc.start()
        try:
            gradient(f, 0.5, n)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 14 * peaks[0], peaks


# -- structures that share their parts ---------------------------------------------------------

LEVELS = 40  # as a tree such a structure has a million million leaves


def doubled(t):
    return t, t


def tower(pair, level=doubled):
    for _ in range(LEVELS):
        pair = level(pair)
    return pair


def product_at_the_bottom(t):
    for k in range(LEVELS):
        t = t[k % 2]
    return t[0] * t[1]


def of_tuples(x):
    return product_at_the_bottom(tower((x, x * x)))


def of_lists(x):
    return product_at_the_bottom(tower([x, x * x], lambda t: [t, t]))


def by_assignment(x):
    s, t = (x, x), (x, x * x)
    for _ in range(LEVELS):
        s, t = (t, s), (t, t)
    return product_at_the_bottom(t)


def through_a_list(x):
    held = [tower((x, x * x))]
    held.append(held[0])
    return product_at_the_bottom(held.pop())


def through_a_checkpoint(x):
    return checkpoint(product_at_the_bottom)(tower((x, x * x)))


def past_a_tower(x, t=tower((1.0, [2.0]))):
    return jvp(lambda x, t: x * x * x, (x, t), (1.0, None))[0]


VERBS = {
    "gradient": (lambda f: gradient(f, 1.5)[0], 6.75),
    "jvp": (lambda f: jvp(f, (1.5,), (1.0,))[1], 6.75),
    "hvp": (lambda f: hvp(f)(1.5, 1.0), 9.0),
    "vmap": (lambda f: vmap(f)(np.array([1.5]))[0], 3.375),
    "vmap of grad": (lambda f: vmap(grad(f))(np.array([1.5]))[0], 6.75),
    "pullback": (lambda f: pullback(f, 1.5)[1](1.0)[1], 6.75),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "f",
    [of_tuples, of_lists, by_assignment, through_a_list, through_a_checkpoint, past_a_tower],
    ids=lambda f: f.__name__,
)
def test_a_structure_that_shares_its_parts_costs_what_they_cost(f, verb):
    ask, slope = VERBS[verb]
    for _ in range(3):  # the third time code would be made for it
        assert ask(f) == pytest.approx(slope)


def test_an_argument_that_shares_its_parts_is_walked_once():
    t = tower((1.5, [2.0]))
    dt = tower((1.0, None))

    def f(x, t):
        for k in range(LEVELS):
            t = t[k % 2]
        return x * t[0] * t[1][0]

    assert grad(f)(3.0, t) == 3.0
    assert jvp(f, (3.0, t), (1.0, None))[1] == 3.0
    assert jvp(f, (3.0, t), (1.0, dt))[1] == 9.0
    found = first = pullback(f, 3.0, t)[1](1.0)[2]
    for k in range(LEVELS):
        found, first = found[k % 2], first[0]
    assert (found, first) == ((6.0, None), (None, [4.5]))  # of a list it is at the first place


def test_products_with_the_hessian_of_what_shares_its_parts():
    def f(t):
        return product_at_the_bottom(t) ** 2

    found = hvp(f)(tower((1.5, 2.0)), tower((1.0, 0.0)))
    for k in range(LEVELS):
        found = found[k % 2]
    assert found == pytest.approx((2.0**2 * 2, 4 * 1.5 * 2.0))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: jvp(tower, ((1.5, 2.0),), ((1.0, 0.0),)),
        lambda: jacobian(tower)((1.5, 2.0)),
        lambda: jacfwd(tower)((1.5, 2.0)),
        lambda: jacfwd(product_at_the_bottom)(tower((1.5, 2.0))),
        lambda: hessian(product_at_the_bottom)(tower((1.5, 2.0))),
    ],
    ids=["jvp", "jacobian", "jacfwd", "by columns", "hessian"],
)
def test_more_derivatives_than_can_be_written_are_refused(ask):
    with pytest.raises(TypeError, match="holds the same tuples again and again"):
        ask()


@pytest.mark.parametrize("verb", [grad, lambda f: lambda t: vjp(f, t)[1](1.0)[0]])
def test_zeros_of_a_tuple_that_shares_its_parts(verb):
    t, pair = tower((1.5, 2.0)), (3.0, 0.0)
    for _ in range(3):
        found = verb(product_at_the_bottom)(t)
        for k in range(LEVELS):
            found, other = found[k % 2], found[1 - k % 2]
        assert (found, other) == ((2.0, 1.5), (0.0, 0.0))
    assert vmap(lambda t, x: t[0] * x, in_axes=(None, 0))(pair, np.ones(2)).tolist() == [3.0, 3.0]
    batch = vmap(lambda t, x: product_at_the_bottom(t) * x, in_axes=(None, 0))(t, np.ones(2))
    assert batch.tolist() == [3.0, 3.0]


def test_zeros_that_can_be_written_to_are_made_for_each_place():
    part = (np.ones(2), 2.0)
    found = grad(lambda t: t[0][1])((part, part, (part, [part])))
    arrays = [found[1][0], found[2][0][0], found[2][1][0][0]]
    for i, array in enumerate(arrays):
        array += i
    assert [array.tolist() for array in arrays] == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


def test_the_check_of_a_tuple_that_shares_its_parts():
    check_gradient(lambda t: np.sum(product_at_the_bottom(t)), tower((np.array([1.5]), np.ones(1))))


def test_many_parts_that_are_no_tower_are_transformed():
    def f(x):
        rows = [(x * i, (x, i)) for i in range(40)]
        return sum([a * b[0] for a, b in rows])

    for _ in range(3):
        assert gradient(f, 1.5)[0] == pytest.approx(2 * 1.5 * 780)
    assert testing.why_recorded(f, 1.5) is None
