"""Functions that an optimizer may get wrong, each with arguments to specialize for and others.

`@tried(first, later, ...)` declares one; `@left(...)` one that is left to the tape, and
must give the same all the same. Many were once silently wrong.
"""

import math

import numpy as np

from tests.zygote_lite.checks import texts

TRIED = []
A = np.array


class Strange(np.ndarray):
    """A subclass whose operations are not an array's."""

    def __mul__(self, other):
        return np.asarray(self) * np.asarray(other) * 10


def tried(*choices, argnums=None):
    def add(f):
        TRIED.append((f, choices, argnums, True))
        return f

    return add


def left(*choices, argnums=None):
    def add(f):
        TRIED.append((f, choices, argnums, False))
        return f

    return add


V, W = A([1.0, 2.0]), A([3.0, 4.0])
M = A([[1.0, 2.0], [3.0, 4.0]])

# -- structures --------------------------------------------------------------------------------


@tried((2.0,))
def length_of_a_dict(x):
    d = {"a": x, "b": x * 2}
    return x * len(d)


@tried((2.0,))
def key_given_twice(x):
    d = {"a": x, "a": x * 2}  # noqa: F601
    return d["a"] * 3


@left((2.0, 2), (2.0, 3))
def key_that_is_computed(x, n):
    d = {3: x * 5, n: x * 2}
    return d[3] * 1.5


@left((2.0,))
def identity_of_lists(x):
    a = [x]
    b = a
    return x * 2 if a is b else x * 3


@left((V, W), (V, V))
def identity_of_arguments(a, b):
    return np.sum(a * b) if a is b else np.sum(a) * 2


@tried((2.0,))
def swapped(x):
    t = (x, x * 2)
    a, b = t
    a, b = b, a
    return a * a * b


@tried((2.0,))
def list_with_slices(x):
    held = [x]
    held.append(x * x)
    held.append(held[0] * held[1])
    turned = held[::-1]
    return turned[0] * held[-2] + sum(held) + len(held)


@tried((([2.0, 3.0], 4.0),), (([2.0, 3.0, 5.0], 4.0),), (((2.0, 3.0), 4.0),))
def nested_argument(p):
    return p[0][0] * p[0][1] * p[1]


@tried(([V, W],), ([V],), ([V, W, V],), ((V, W),))
def arrays_in_a_list(p):
    return np.sum(p[0] * p[-1])


@tried((V,), (A([]),), ([1.0, 2.0],), ((1.0, 2.0),), (M,))
def enumerated(x):
    s = 0.0
    for i, v in enumerate(x):
        s += (i + 1) * v * v
    return s


@tried(([1.0, 2.0, 3.0],), ([1.0],), ([],), ([1.0, 2, 3.0],), ([1, 2],), ([True, 2.0],))
def list_of_numbers(p):
    s = 1.5
    for v in p:
        s = s + v * v
    return s * p[0] if p else s


LONG = [float(i % 7 - 3) + 0.5 for i in range(20)]  # longer lists are of any length


@tried((LONG,), (LONG[:17],), (LONG[:3],), ([],), ([*LONG[:-1], 2],), ([*LONG, np.float64(2)],),
       ([*LONG, A([1.0])],), (tuple(LONG),))  # fmt: skip
def from_both_ends(p):
    s = 0.0
    for i in range(len(p)):
        s = s + p[i] * p[-i]
    return s


@tried((LONG,), (LONG[:18],), (LONG[:4],))
def list_that_is_copied(p):
    q = list(p)
    q[0] = q[1] * q[2]
    q[3] += q[0]
    s = 0.0
    for v in q:
        s += v * v
    return s + sum(p)


@tried((LONG,), (LONG[:18],))
def two_names_of_one_list(p):
    a = [0.0] * 4
    b = a
    for i in range(4):
        a[i] = p[i] * 2
        b[3 - i] = p[i] * 3
    return sum(a) * a[0] + sum(p)  # each entry matters: else a zero may stand for `None`


@tried((LONG,))
def lists_that_change_places(p):
    a = [0.0] * 4
    b = [1.0] * 4
    for i in range(4):
        a[i] = p[i] * 2
        a, b = b, a
    return sum(a) * b[0] + a[1] + sum(p)


@tried((LONG,))
def list_read_while_it_is_filled(p):
    a = [0.0] * 4
    s = 0.0
    for i in range(4):
        s = s + sum(a) * p[i]
        a[i] = p[i] * s + 1
    return s + sum(p)


@tried((LONG,))
def array_of_a_list_that_is_written_later(p):
    a = [0.0] * 4
    for i in range(4):
        a[i] = p[i]
    x = np.array(a)
    a[0] = 5.0
    return np.sum(x * x) + sum(a) + sum(p)


@left((LONG,))
def rows_that_are_one(p):
    q = [[0.0] * 3] * 3
    for i in range(3):
        q[i][i] = p[i] * p[i + 1]
    return q[0][0] * q[0][1] + q[2][2]


@left((LONG,))
def argument_list_that_is_written(p):
    p[0] = 3.0
    return sum(p) * p[1]


ROWS_OF = [LONG[:18], LONG[1:19]]


SQUARE = [[float(i * j % 5) for i in range(18)] for j in range(18)]


@tried((SQUARE,), (ROWS_OF,), ([LONG] * 18,), ([row[:j] for j, row in enumerate(SQUARE)],),
       ([LONG, LONG[:3]],))  # fmt: skip
def rows(m):
    s = 0.5
    for row in m:
        for v in row:
            s += v * v
    return s * m[-1][-1]


# -- arrays that are written in place ----------------------------------------------------------


@left((V,))
def view_stored(x):
    y = np.zeros(3)
    v = y[:2]
    y[0] = x[0] * x[1]
    z = np.zeros(2)
    z[:] = v
    return np.sum(z**2)


@left((V,))
def view_in_a_structure(x):
    y = np.zeros(3)
    v = y[:2]
    y[0] = x[0] * x[1]
    return np.sum(np.concatenate([v, x]) ** 2)


@left((V,), (-V,))
def view_on_one_path(x):
    y = np.zeros(3)
    v = y[:2]
    w = v if x[0] > 0 else x
    y[0] = x[0] * x[1]
    return np.sum(w**2) + x[0]


@left((V,))
def view_carried_by_a_loop(x):
    y = np.zeros(3)
    w = y[:2]
    for i in range(3):
        w = w * 1.0 if i > 5 else w
        y[0] = x[0] * x[1] + i
    return np.sum(w**2)


@left((V, 3), (V, 1))
def view_replaced_in_a_loop(x, n):
    y = np.zeros(4)
    w = y[:2]
    s = 0.0
    for i in range(n):
        y[i] = x[0] * x[1]
        s = s + np.sum(w**2)
        w = y[1:3]
    return s


@left((V, 2), (V, 1))
def view_or_copy(x, k):
    y = np.zeros(4)
    v = np.ascontiguousarray(y[::k])
    y[0] = x[0] * x[1]
    return v[0] ** 2 + x[0]


@left((V,))
def view_added_to(x):
    y = np.zeros((2, 2))
    y[0] = x
    v = y.T
    v += x
    return np.sum(y * y)


@left((V,))
def view_whose_entry_decides(x):
    y = np.zeros(2)
    v = y[:]
    y[0] = x[0] * x[1]
    return v[0] * x[1] if v[0] > 1 else x[0]


@tried((A([1.0, 2.0, 3.0]),), (A([1.0, 0.5]),), (A([3.0]),), (A([1.0, 2.0], np.float32),))
def written_and_read(x):
    y = np.zeros_like(x)
    y[1:] = x[:-1] * 2
    y[0] = x[0] * x[-1]
    y[-1] += x[0]
    return np.sum(y * x)


@tried((V,))
def written_after_a_rule_read_it(x):
    y = np.zeros((2, 2))
    y[0, 0], y[1, 1], y[0, 1] = x[0], x[1], 0.3
    d = np.linalg.det(y)
    y[0, 1] = 5.0
    return d * d + np.sum(y * y)


@left((A([1.0, 2.0, 3.0]),))
def mask_written_later(x):
    m = np.zeros(3, bool)
    m[0] = True
    a = x[m]
    m[1] = True
    b = x[m]
    return np.sum(a * b)


@tried((A([1.0, 2.0, 3.0]),))
def stored_with_less_precision(x):
    y = np.zeros(3, np.float32)
    y[:] = x * x
    return float(y.sum())


@left((V,))
def two_names_of_one_array(x):
    a = b = x * 2
    a *= 3
    return np.sum(a * b)


@left((V,))
def argument_changed(x):
    x += 1
    return np.sum(x * x)


# -- indices -----------------------------------------------------------------------------------


@tried((M, A([0, 1])), (M[:1], A([0, 0])), (M, A([1, 1])), argnums=(0,))
def one_of_each_row(x, i):
    return np.sum(x[np.arange(len(x)), i] ** 2)


@tried((M, A([[0, 1], [1, 0]])), (M, A([[0, 0], [0, 0]])), argnums=(0,))
def rows_named_again(x, i):
    return np.sum(x[np.arange(2), i] ** 2)


@tried((A([1.0, 2.0, 3.0]), A([0, 1])), (A([1.0, 2.0, 3.0]), A([1, 1])), argnums=(0,))
def repeated(x, i):
    return np.sum(x[i] ** 2)


@tried((V, 1), (V, 5), (V, -2), (V, -3), (V, np.int64(0)), (V, True))
def entry(x, i):
    return x[i] * 2


@tried((A([1.0, 2.0, 3.0]),), (A([1.0, 0.5]),), (A([3.0, 3.0]),))
def chosen_by_a_mask(x):
    return np.sum(x[x > 1] * 2)


# -- numbers -----------------------------------------------------------------------------------


@tried((2.0,), (3,), (True,), (np.float32(2),), (np.float64(2),), (2 + 1j,), (10**400,),
       (np.int64(3),), (math.inf,), (math.nan,), (1e200,), (None,), ("a",))  # fmt: skip
def square(x):
    return x * x


@tried((np.float32(2),), (2.0,))
def square_of_less_precision(x):
    return x * x


@tried((np.int64(2),), (3.0,), (2,), (np.int32(2),))
def half(x):
    return x * 0.5


@tried((2,), (3.0,), (True,), (10**400,))
def half_of_whole(x):
    return x * 0.5


@tried((1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (1, 2.0), (2, 1.0))
def greatest(a, b):
    return max(a, b) * 2 + min(a, b)


@tried((1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (2, 1.0), (1, 2.0))
def either(x, y):
    if x > y:
        return x * y
    return y + x


@tried((2.0,), (-1.0,))
def zero_or_none(x):
    if x > 0:
        return x
    return 0.0


@tried((2.0, 3.0), (0.0, 0.0), (0.0, 1.0), (-2.0, 2.0), (0.0, 2.0), (0.0, 0.5), (-2.0, 0.5))
def power(x, y):
    return x**y


@tried((4.0, 2), (4.0, -2), (0.0, -1), (4.0, 0), (-4.0, 3), (0.0, 0))
def whole_power(x, n):
    return x**n


@tried((A([1.0, 2.0, 3.0]), A([1.0, 2.0, 3.0])), (A([0.0, 2.0, 3.0]), A([0.0, 2.0, 3.0])),
       (A([0.0, -2.0, 3.0]), A([1.0, 2.0, 3.0])))  # fmt: skip
def powers(x, y):
    return np.sum(x**y)


@tried((2.0,), (0.0,), (-2.0,), (-0.0,))
def absolute(x):
    return abs(x) * 1.0


@tried((1.0,), (1e5,), (-1e5,))
def exponential(x):
    return math.exp(x)


@tried((1.0, 2.0), (1.0, 0.0), (np.float64(1.0), 0.0))
def quotient(x, y):
    return x / y


@tried((np.float64(1.0),), (np.float64(-1000.0),), (np.float64(1000.0),))
def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@tried((np.float64(4.3),), (np.float64(-4.7),), (np.float64(0.0),))
def rounded(x):
    return np.floor(x) * x + np.round(x) * x + np.sign(x) * x + x % 2


# -- kinks and poles of arrays -----------------------------------------------------------------

THREE = A([1.0, 2.0, 3.0])


@tried((THREE,), (A([0.0, 2.0, 3.0]),), (A([0.0, 0.0, 3.0]),))
def product(x):
    return np.prod(x)


@tried((THREE,), (A([3.0, 3.0, 3.0]),), (A([3.0, 1.0, 1.0]),))
def maximum(x):
    return np.max(x)


@tried((THREE,), (A([0.0, 0.0, 0.0]),))
def norm(x):
    return np.linalg.norm(x)


@tried((THREE,), (A([0.0, 4.0, 0.0]),), (A([-1.0, 4.0, 0.0]),))
def roots(x):
    return np.sum(np.sqrt(x))


@tried((THREE,), (A([0.0, -2.0, 1.0]),), (A([1.0, 1.0, 1.0]),))
def kinks(x):
    a = np.sum(np.maximum(x, 0) * x) + np.sum(np.maximum(x, 1.0)) + np.sum(np.abs(x))
    return a + np.sum(np.clip(x, 0, 1) * x)


@tried((THREE,), (A([3.0, -2.0, 1.0]),), (A([1.0, 1.0, 1.0]),))
def sorted_(x):
    return np.sum(np.sort(x) * np.arange(3))


@tried((THREE,), (A([1.0, 1.0, 1.0]),), (A([1.0, 4.0]),), (A([1.0]),))
def spread(x):
    return np.var(x) + np.std(x)


@tried((V,), (A([0.0, 2.0]),), (A([-1.0, 2.0]),))
def masked_logarithm(x):
    return np.sum(np.where(x > 0, np.log(x), 0.0))


@tried((V, W), (V, A([0.0, 2.0])), (A([0.0, 1.0]), A([0.0, 1.0])))
def quotients(x, y):
    return np.sum(x / y)


# -- shapes and dtypes -------------------------------------------------------------------------


@tried((V, W), (V, M), (A([1.0]), W), (1.0, W), (A([1.0, 2.0], np.float32), W), (M[:1], M),
       (M[:, :1], W))  # fmt: skip
def broadcast_sum(x, y):
    return np.sum((x + y) * x)


@tried((M, W), (M, M), (V, W), (M[:1], W), (V, M))
def matrix_product(x, y):
    return np.sum(x @ y)


@tried((V,), (A([]),), (A([[1.0, 2.0]]),), (2.0,), (np.asfortranarray(M),), (A([1, 2]),),
       (A([1.0, 2.0], np.float32),), (np.float32(3),), (A(3.0),), (V[::-1],),
       (np.broadcast_to(V, (3, 2)),), (np.zeros((0, 3)),), (A([1.0, 2.0], ">f8"),),
       (A([1.0, 2.0], np.float16),), (A([1.0, 2.0], np.longdouble),), (A([1.0, 2.0], complex),),
       (A([1.0, 2.0], object),), (A([True, False]),), (np.ma.masked_array([1.0, 2.0], [0, 1]),),
       (V.view(Strange),), (None,), ([1.0, 2.0],))  # fmt: skip
def sum_of_squares(x):
    return np.sum(x * x)


@tried((A([1.0, 2.0], np.float32),), (V,))
def mixed_precision(x):
    return np.sum(x * np.float32(2)) + x[0] * 3


@tried((V,), (A([1.0, 2.0], np.float32),))
def cast(x):
    return np.sum(x.astype(np.float32) ** 2)


ROWS = np.arange(12.0).reshape(3, 4) / 7 - 0.6


@tried((ROWS[:, :3],), (np.asfortranarray(ROWS),), (ROWS[::2, ::-1],), (ROWS.T,), (ROWS[:1],))
def of_any_layout(x):
    a = np.sum((x @ x.T) * x[:, :1]) + np.sum(x.ravel()[::2]) + np.sum(np.flip(x) * x)
    return a + np.max(x, axis=0) @ np.min(x, axis=0)


@tried((A([1.0, 2.0, 3.0, 4.0]),), (V,), (np.arange(8.0),), (A([1.0, 2.0, 3.0]),))
def reshaped(x):
    return np.sum(x.reshape(2, -1) @ x.reshape(-1, 2))


@tried((M, 0), (M, 1), (M, None), (M, (0, 1)), (M, 2), argnums=(0,))
def along(x, axis):
    return np.sum(np.sum(x, axis=axis) ** 2)


@tried((M, W, V), (M[:1], W, V), (M, M, V), (M, W, 1.0), (M[:1, :1], M[:1], A([1.0])),
       (np.zeros((0, 2)), W, A([1.0])), (M, M[:, :1], M[:, :1]))  # fmt: skip
def layer(x, w, b):
    return np.sum(np.tanh(x @ w + b) ** 2)


@tried((V, W), (V, M), (A([1.0]), W), (1.0, W), (A([1.0, 2.0], np.float32), W))
def shape_that_grows_in_a_loop(x, y):
    z = x
    for _ in range(3):
        z = z + y
    return np.sum(z * z)


@tried((THREE, W, 2), (THREE, W, 1), (THREE, A([4.0]), 2), (THREE, W, 3), argnums=(0, 1))
def part_of_any_length(x, y, k):
    z = x[:k]
    for _ in range(2):
        z = z * y + z
    return np.sum(z)


@tried((V, 3), (V, 1), (V, 2), (V, 0))
def other_length_on_one_path(x, n):
    z = x if n > 2 else np.zeros(n)
    return np.sum(z) * np.sum(x) + np.sum(x)


@tried((V, 2), (V, 1), (A([1.0]), 3), (V, 0))
def rows_that_an_argument_counts(x, n):
    z = np.zeros((n, len(x)))
    z[:] = x
    return np.sum(z * z)


@tried((THREE, W), (A([1.0]), W), (THREE, A([4.0])), (1.0, A([4.0])), (THREE, 2.0))
def stored_and_stretched(x, y):
    z = np.zeros(3)
    z[:] = x
    z[1:] += y
    return np.sum(z * z)


@tried((V, W), (V, A([4.0])), (A([1.0]), W), (V, 3.0), (V, 3), (A([1.0, 2.0], np.float32), W),
       (V, A([4, 5])), (1.0, W))  # fmt: skip
def added_in_place(x, y):
    z = x * 2.0
    z += y
    return np.sum(z * z)


@tried((M, 0), (V, 0), (M, A([0, 0])), (M, slice(0, 1)), (M, (0, 1)), (M, [0, 0]), (M, [0, 1]),
       (M, (1, 1)), (M, None), argnums=(0,))  # fmt: skip
def any_index(x, i):
    y = x[i]
    return np.sum(y * y)


@tried((0.5,), (0.0,), (1.0,), (2.0,), (-0.5,), (np.float64(0.5),))
def truth_as_a_number(x):
    return (x > 0) * x + (x < 1) * x * x + (not x) * 3.0


@tried((V, M, 1.0), (V, -M, 1.0), (V, M, 9.0))
def sum_that_is_its_own_derivative(x, m, a):
    n = m + m  # the derivative of `m * m` too: nobody may add to it
    if a < 5:
        return np.sum(m * m) + np.sum(n * n) + np.sum(x) * a
    return np.sum(m * m) + np.sum(n * n) + np.sum(x) * 2 * a


# -- control flow ------------------------------------------------------------------------------


@tried((2.0, 3), (2.0, 0), (2.0, 1), (2.0, -1), (2.0, True), (2.0, 2.5))
def turns(x, n):
    s = 0.0
    for i in range(n):
        s = s + x * i
    return s


@tried((2.0, 3), (2.0, 0))
def counter_after_a_loop(x, n):
    s = x
    for i in range(n):
        s = s * x
    return s + i


@tried((V,), (A([10.0]),), (A([0.1, 0.2]),))
def until(x):
    s = 0.0
    i = 0
    while s < 10 and i < 50:
        s = s + x[i % len(x)] ** 2
        i += 1
    return s * i


@tried((2.0, True), (2.0, False), (2.0, None), (2.0, 1), (2.0, 0), (2.0, ""), argnums=(0,))
def flag(x, flag):
    y = x * 2 if flag else x
    return y * y


@tried((2.0, "a"), (2.0, "b"), argnums=(0,))
def mode(x, mode="a"):
    return x * x if mode == "a" else x


@tried((2.0,), (-1.0,))
def asserting(x):
    assert x > 0, f"bad {x}"
    return x * x


@tried((2.0,), (-1.0,), (0.0,))
def raising(x):
    if x < 0:
        text = f"{x} is negative"
        raise ValueError(text)
    return math.sqrt(x)


@tried((V,), (A([1.0, -2.0]),), (A([1.0, -7.0]),), (A([]),))
def raising_in_a_loop(x):
    for v in x:
        if v < 0:
            if v < -5:
                break
            raise ValueError(f"negative {v}")
        s = v * v
    return s


@tried((2.0,), (0.0,), (-1.0,), (1.0,), (0.5,))
def undefined_on_the_other_path(x):
    s = 0.0 * x
    if x < 0:
        return math.log(s + x * x) * x + 1 / s if x < -3 else math.sqrt(s) / (s + x) + x
    if x > 5:
        return math.acos(x) + math.sqrt(s)
    return s + x * x


@tried((2.0,))
def functions_inside(x):
    def g(a, b=3.0):
        return a * b * x

    return g(x) + g(x, x)


@left((2.0,))
def rebound_after_it_was_captured(x):
    y = x

    def g():
        return y * y

    y = x * 3
    return g()


# -- views that rules make: each is written over after it was made -------------------------------

VIEWS = (
    "y.T", "np.transpose(y)", "y.reshape(4)", "np.reshape(y, (4,))", "np.ravel(y)", "y.ravel()",
    "np.flip(y)", "np.rot90(y)", "np.diagonal(y)", "np.swapaxes(y, 0, 1)", "np.expand_dims(y, 0)",
    "np.squeeze(y)", "np.atleast_1d(y)", "np.atleast_3d(y)", "np.asarray(y)",
    "np.ascontiguousarray(y)", "np.moveaxis(y, 0, 1)", "y[::-1]", "y[0]",
    "np.einsum('ij->ji', y)", "np.einsum('ii->i', y)", "y.real", "np.real(y)",
    "np.broadcast_to(y, (3, 2, 2))", "np.array(y, copy=None)", "np.array(y)",
    "y.astype(float, copy=False)", "y.astype(float)", "np.split(y, 2)[0]", "np.fliplr(y)",
    "np.diff(y, 0)", "np.asfortranarray(y)", "np.nan_to_num(y, copy=False)", "y.view()",
    "np.copy(y)", "+y", "y * 1", "y / 1.0", "y ** 1", "np.conj(y)", "y.conj()", "np.vstack([y])",
    "np.diag(y)", "np.require(y)", "np.rollaxis(y, 1)", "np.hsplit(y, 2)[1]", "np.positive(y)",
    "y.transpose()", "y.swapaxes(0, 1)", "y.squeeze()", "y.diagonal()", "np.linalg.diagonal(y)",
    "np.matrix_transpose(y)", "y.mT", "np.permute_dims(y, (1, 0))", "np.abs(y)", "y.flatten()",
    "y.clip(-9, 9)", "np.where(y > -9, y, 0)", "np.take(y, [0], 0)", "np.maximum(y, -9)",
    "y if x[0] > 0 else x", "[y, y][0]", "(y, 1)[0]", "(lambda q: q)(y)", "np.cumsum(y)",
    "np.sum(y, axis=0)", "np.stack([y, y])", "np.concatenate([y])", "np.broadcast_arrays(y)[0]",
    "np.tril(y)", "np.roll(y, 1)", "np.repeat(y, 1)", "np.tile(y, 1)",
)  # fmt: skip


def view_program(expression):
    """Return a function that writes to an array after it was read by an expression."""
    text = (
        "def f(x):\n    y = np.zeros((2, 2))\n    y[0, 0] = x[0]\n    y[1, 1] = x[1]\n"
        f"    v = {expression}\n    y[0, 1] = x[0] * x[1]\n    y[1, 0] = x[1] ** 2\n"
        "    y[0, 0] = 3.0 * x[1]\n    return np.sum(v**3) + x[0]\n"
    )
    return texts.load(text, f"<view {expression}>", np=np, __name__="view")
