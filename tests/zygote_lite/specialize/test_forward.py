"""Forward mode as transformed code: dual statements, against the tape and derivatives by hand."""

import math
import tracemalloc

import numpy as np
import pytest

from rulescore import Tangent
from rulescore.testing._leaves import inner
from tests.zygote_lite.checks.finite_differences import slope
from zygote_lite import grad, gradient, hessian, hvp, jacfwd, jvp, testing, value_and_grad
from zygote_lite._specialize.cache import Specializations
from zygote_lite._specialize.tangents import specialize_forward

V, W = np.array([0.3, 0.9, -1.1]), np.array([0.7, -0.2, 0.4])
M = np.array([[0.5, -0.3, 0.8], [0.1, 0.9, -0.4], [0.6, 0.2, 1.3]])


def expression(x, y):
    return math.sin(x) * y + math.exp(x * y) / x


def powers(x, n):
    s = 1.0
    for _ in range(n):
        s = s * x + math.sin(s)
    return s


def branch(x):
    if x > 0:
        y = x * x
    elif x > -1:
        y = 3.0
    else:
        y = math.exp(x)
    return y * x


def until(x):
    while x < 10.0:
        x = x * x + 0.5
    return x


def broken(x):
    s = 0.0
    for i in range(10):
        if s > 2.0:
            break
        s = s + x * i
    return s


def layer(x, w):
    h = np.tanh(x @ w)
    return np.sum(h * h, axis=0), h


def writes(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * x[0]
    y[1:] *= 2.0
    y[0] = 5.0
    z = y + 0.0
    z[2] = x[1]
    return y, z, np.sum(y)


def views(x):
    y = x * 2.0
    part = y[1:]
    part[0] = x[0] * x[2]
    return np.sum(y * y)


def shared(x):
    y = x + 1.0  # whose tangent is that of `x`
    y[0] = 0.0
    return y * x


def linear(x):
    return np.concatenate([x[::-1], np.cumsum(x)]).reshape(2, 3).T


def reduced(x):
    return np.max(x) * np.linalg.norm(x) + np.var(x) + np.prod(x)


def solved(a, b):
    return np.linalg.solve(a, b) @ b + np.linalg.det(a)


def chosen(x):
    return np.where(x > 0, np.sqrt(np.abs(x)), x * x) + np.maximum(x, 0.1)


def broadcast(x, y):
    return x + np.ones((2, 3)) * y


def single(x):
    return np.exp(x) * np.float32(2.0) + x[0]


def helper(x):
    return [x * k for k in (1.0, 2.0)]


def inlined(x):
    a, b = helper(x)
    return a * b, 1.0, math.cos(b)


def grows(x):
    xs = [x]
    for i in range(4):
        xs.append(xs[-1] * x + math.sin(xs[i]))
    xs[2] = 3.0 * x
    return sum(xs) * xs[-2]


def table(x, n):
    rows = []
    for i in range(n):
        row = [0.0] * n
        for j in range(1, n):
            row[j] = x * (i + j)
        rows.append(row)
    total = 0.0
    for i in range(n):
        for j in range(n):
            total = total + rows[i][j] * rows[j][i] * x
    return total


def layers(x):
    found = []
    h = x
    for _ in range(3):
        h = np.tanh(h * x)
        found.append(h)
    found.append(np.ones(3))
    total = 0.0
    for h in found[1:]:
        total = total + np.sum(h * h)
    return total * np.sum(found[1])


def joined(x):
    still = []
    for i in range(2):
        still.append(float(i))
    moving = []
    for i in range(3):
        moving.append(x * i)
    both = moving + still
    part = list(both[1:4])
    part.append(1.0)
    return sum(part) * part[0] + sum(both, 1.0)


def early(x, n):
    for i in range(n):
        x = x * 1.5
        if x > 2.0:
            return math.sin(x) * i
    if x > 1.0:
        y = x * x
    try:
        return y
    except UnboundLocalError:
        return x * 3.0


def counted(xs):
    total = 0
    for i, v in enumerate(xs):
        total = total + (v * i if i else 0)
    return total * xs[0]


def power(v, n):
    return 1.0 if n == 0 else v * power(v, n - 1)


def grown_by_calls(x, n):
    if n == 0:
        return np.tanh(x)
    y = grown_by_calls(x * 0.9, n - 1)
    return y * x + np.sum(y) * power(x[0], 2)


def eliminated(a, b):
    a, b = a.copy(), b.copy()
    for i in range(3):
        for j in range(i + 1, 3):
            a[j, i:] -= a[j, i] / a[i, i] * a[i, i:]
    y = np.zeros_like(b)
    for i in range(2, -1, -1):
        y[i] = (b[i] - a[i, i + 1 :] @ y[i + 1 :]) / a[i, i]
    np.add.at(y, [0, 0, 2], b * b)
    return y


def transposed(x):  # functions without a forward rule
    kinds = np.select([x > 0.5, x > 0.0], [x * x, np.sin(x)], 0.1 * x)
    return kinds * math.fsum([x[0], x[1] * x[2]]) * min(x[0] * x[0], x[2])


def factored(a):
    q, r = np.linalg.qr(a)
    sign, size = np.linalg.slogdet(a)
    u, s, vh = np.linalg.svd(a)
    shortest = np.linalg.lstsq(a[:, :2], a[:, 2])[0]
    total = np.sum(np.linalg.pinv(a[:2]) @ q[:2]) + np.sum(shortest)
    return total + r[0, 1] * size * sign + s[0] * u[0, 0] ** 2 * vh[1, 2] ** 2


def made_of_items(x):
    y = np.array([x[0] * 2.0, x[1] * x[2], 1.0])
    halves = np.split(np.concatenate([y, x]), 2)
    return np.einsum("i,i->", halves[0], np.sort(halves[1])) + np.sum(np.clip(x, -1.0, y[0]))


def attempts(x, y):
    total = 0.0
    for i in range(4):
        try:
            s = math.log(x - i) / (y - i)
        except ValueError:
            s = x * y
        except ZeroDivisionError:
            s = x * 3.0
        else:
            s = s * 1.1
        finally:
            total = total + y
        total = total + s * x
    return total


def left_by_an_error(x):
    s = x
    try:
        for _ in range(4):
            s = s * x
            if s > 5.0:
                raise KeyError(s)
    except KeyError:
        return x * 2.0
    return s


PROGRAMS = [
    (early, (0.4, 2), (0.7, None)),
    (early, (0.7, 2), (0.7, None)),
    (early, (0.7, 5), (0.7, None)),
    (counted, (V,), (W,)),
    (power, (0.7, 5), (1.3, None)),
    (grown_by_calls, (V, 2), (W, None)),
    (eliminated, (M, V), (M.T.copy(), W)),
    (transposed, (V,), (W,)),
    (attempts, (2.5, 1.3), (0.7, -0.3)),
    (attempts, (5.5, 1.3), (0.7, -0.3)),
    (left_by_an_error, (1.2,), (0.7,)),
    (left_by_an_error, (3.0,), (0.7,)),
    (factored, (M,), (M.T.copy(),)),
    (made_of_items, (V,), (W,)),
    (grows, (0.7,), (1.3,)),
    (table, (0.7, 3), (1.0, None)),
    (layers, (V,), (W,)),
    (joined, (0.7,), (1.5,)),
    (expression, (1.2, 0.4), (0.7, -0.3)),
    (expression, (1.2, 0.4), (None, -0.3)),
    (powers, (0.9, 5), (1.0, None)),
    (branch, (1.5,), (2.0,)),
    (branch, (-0.5,), (2.0,)),
    (branch, (-1.5,), (2.0,)),
    (until, (1.5,), (1.0,)),
    (broken, (0.4,), (1.0,)),
    (layer, (M, M[:, :2] + 0.1), (M + 1, None)),
    (layer, (M, M[:, :2] + 0.1), (M + 1, M[:, 1:])),
    (writes, (V,), (W,)),
    (views, (V,), (W,)),
    (shared, (V,), (W,)),
    (linear, (V,), (W,)),
    (reduced, (V,), (W,)),
    (solved, (M, V), (M.T.copy(), W)),
    (chosen, (V,), (W,)),
    (broadcast, (V, 2.0), (W, 0.3)),
    (broadcast, (V, 2.0), (None, 0.3)),
    (single, (V.astype("f"),), (W.astype("f"),)),
    (inlined, (0.6,), (1.5,)),
]


def of_parts(p, xs):
    (a, b), c = p
    total = 0.0
    for x in xs:
        total = total + x * a
    return total * np.sum(b) + c


@pytest.mark.parametrize("k", range(2))
def test_parts_of_arguments(k):
    p, xs, dp, dxs = ((2.0, V), 0.5), [1.0, 3.0], ((1.0, W), 2.0), [0.5, -1.0]
    with testing.transformed_only(), testing.compared(), testing.strict():
        _, dy = jvp(of_parts, (p, xs), (dp, dxs) if k else (dp, None))
    slope_of_xs = -0.5 * 2.0 * np.sum(V) if k else 0.0
    expected = 4.0 * np.sum(V) + 8.0 * np.sum(W) + 2.0 + slope_of_xs
    np.testing.assert_allclose(dy, expected)


def test_parts_that_do_not_fit():
    for _ in range(4):
        with pytest.raises(TypeError, match="give one of the same shape"):
            jvp(of_parts, (((2.0, V), 0.5), [1.0]), (((1.0, W[:2]), 2.0), [1.0]))
        _, dy = jvp(of_parts, (((2.0, V), 0.5), [1.0]), (((1.0, None), 2.0), [None]))
        np.testing.assert_allclose(dy, np.sum(V) + 2.0)


class Dense:
    def __init__(self, w, b):
        self.w, self.b, self.name = w, b, "dense"

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


class Network:
    def __init__(self, *layers):
        self.layers, self.scale, self.size = list(layers), 2.0, 3

    def __call__(self, options, x):
        for layer in self.layers:
            x = layer(x)
        return np.sum(x) * self.scale * options["rate"]["last"] * self.size


def called(network, options, x):
    return network(options, x)


def test_objects_and_dicts():
    network, options = Network(Dense(M, V), Dense(M[:2], V[:2])), {"rate": {"last": 0.4}}
    slopes = gradient(called, network, options, W)
    zeros = Tangent(Dense, w=None, b=None, name=None)
    second = Tangent(Dense, w=M[1:], b=None, name=None)
    moves = (
        (Tangent(Network, layers=[None, second], scale=0.3, size=None), None, None),
        (Tangent(Network, layers=[zeros, second], scale=None, size=1.5), None, V),
        (None, {"rate": {"last": 2.0}}, V),
        (slopes[0], slopes[1], slopes[2]),
    )
    for dxs in moves:
        with testing.transformed_only(), testing.compared(), testing.strict():
            _, dy = jvp(called, (network, options, W), dxs)
        terms = [inner(d, v) for d, v in zip(slopes, dxs, strict=True) if v is not None]
        np.testing.assert_allclose(dy, sum(terms))
    network.layers[1] = network.layers[0]  # one object at two places has one tangent, at the first
    slopes = gradient(called, network, options, W)
    first = Tangent(Dense, w=M, b=V, name=None)
    for _ in range(4):
        moves = Tangent(Network, layers=[first, None], scale=None, size=None), None, None
        _, dy = jvp(called, (network, options, W), moves)
        np.testing.assert_allclose(dy, inner(slopes[0].layers[0], first))
    wrong = (
        {"layers": [None, None], "scale": 0.3, "size": None},
        Tangent(Network, layers=[None], scale=0.3, size=None),
        Tangent(Network, layers=[None, Tangent(Dense, w=M, b=None, name=None)], scale=0.3),
    )
    for d in wrong:
        with pytest.raises(TypeError, match="tangent"):
            jvp(called, (network, options, W), (d, None, None))


def parts_of(y):
    return y if isinstance(y, tuple) else (y,)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_dual_code(number):
    f, xs, dxs = PROGRAMS[number]
    before = [np.copy(x) for x in (*xs, *(v for v in dxs if v is not None))]
    with testing.transformed_only(), testing.compared(), testing.strict():
        y, dy = jvp(f, xs, dxs)
    after = [*xs, *(v for v in dxs if v is not None)]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    tolerance = 1e-3 if f is single else 1e-7

    def moved(h, i):
        given = [x if v is None else x + type(x)(h * v) if isinstance(x, float) else x
                 if v is None else x + h * v for x, v in zip(xs, dxs, strict=True)]  # fmt: skip
        given = [g if isinstance(x, int) else type(x)(g) if isinstance(x, float)
                 else np.asarray(g, float) for g, x in zip(given, xs, strict=True)]  # fmt: skip
        return np.asarray(parts_of(f(*given))[i], float)

    for i, (part, d) in enumerate(zip(parts_of(y), parts_of(dy), strict=True)):
        assert type(d) is type(part)
        assert getattr(d, "dtype", None) == getattr(part, "dtype", None)
        expected, _ = slope(lambda h, i=i: moved(h, i), step=1e-3)
        np.testing.assert_allclose(d, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("order", ["A", "K"])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_the_memory_of_the_value_decides_not_that_of_the_tangent(order, layout):
    def f(x):
        return np.asfortranarray(x).ravel(order) * np.arange(6.0)

    x, dx = layout(np.ones((2, 3))), np.array([[1.0, 2.0, 4.0], [7.0, 11.0, 16.0]])
    expected = dx.ravel("F") * np.arange(6.0)
    for _ in range(3):
        np.testing.assert_array_equal(jvp(f, (x,), (dx,))[1], expected)
    with testing.recorded_only():
        np.testing.assert_array_equal(jvp(f, (x,), (dx,))[1], expected)


def test_a_number_that_is_complex_from_the_second_iteration_on():
    def f(x, z):
        b = 0.0
        for _ in range(3):
            b = b + complex(abs(z) ** 2, np.angle(b + 3.0)) * x
        return b.real + b.imag

    with testing.transformed_only(), testing.compared(), testing.strict():
        found = jvp(f, (0.3, 0.4 + 0.2j), (1.0, 0.5 - 0.3j))
    expected, _ = slope(lambda h: f(0.3 + h, 0.4 + 0.2j + h * (0.5 - 0.3j)), step=1e-3)
    np.testing.assert_allclose(found[1], expected, rtol=1e-7)
    assert type(found[1]) is float


def test_errors_of_tangents_are_not_those_of_the_program():
    def f(x):
        try:
            return math.sqrt(x) + 1.0
        except ZeroDivisionError:  # which the function never raises, and its tangent at 0 does
            return 100.0 * x

    for x, tangent in ((4.0, 0.25), (0.0, math.inf), (4.0, 0.25)):
        with testing.strict():
            assert jvp(f, (x,), (1.0,))[1] == tangent
            assert jvp(f, (x,), (1.0,))[1] == tangent


def test_dual_code_is_readable():
    made = specialize_forward(powers, (0.9, 5), (True, False), (1.0,))
    assert str(made.text) == (
        "def powers_and_tangent(x, n, dx):\n"
        "    t1 = range(n)\n"
        "    s = 1.0\n"
        "    ds = 0.0\n"
        "    for _ in t1:\n"
        "        dt2 = ds * x + dx * s\n"
        "        dt3 = ds * math.cos(s)\n"
        "        s = s * x + math.sin(s)\n"
        "        ds = dt2 + dt3\n"
        "    return (s, ds)"
    )


def test_a_loop_keeps_nothing():
    for _ in range(3):
        jvp(powers, (0.5, 10), (1.0, None))
    with testing.transformed_only():
        tracemalloc.start()
        jvp(powers, (0.5, 50_000), (1.0, None))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 100_000


def kept_before_a_write(x):
    a = np.sin(x)
    z, y = a * 1.0, a - x[0]
    a[0] = x[1]
    return z * y, a + 0.0


def kept_views_before_a_write(x):
    a, held = np.zeros((2, 2)), []
    for i in range(2):
        a[i] = x[i]
        held.append(a.reshape(4) + 1.0)
    a[1] = x[0]
    return held[0] * held[1], np.broadcast_to(a[0], (2, 2)) * 1.0


def two_buffers(x):
    a, b, total = x * 1.0, np.zeros(3), 0.0
    for i in range(5):
        z = a * 1.0
        b[1:] = a[:-1] * a[1:]
        a[0] = x[i % 3]
        total = total + z * b
        if i != 2:
            a, b = b, a
    return a, b * total


def buffers_that_are_made_anew(x):
    a, b, k = np.zeros(3), x * 2.0, 0
    while k < 3:
        a[k] = b[k] * x[0]
        b += a
        a, b, k = b, a * 1.5, k + 1
    return a, b


@pytest.mark.parametrize(
    "f", [kept_before_a_write, kept_views_before_a_write, two_buffers, buffers_that_are_made_anew]
)
def test_tangents_share_no_memory_where_their_primals_do_not(f):
    expected = [slope(lambda h, i=i: f(V + h * W)[i], step=1e-3)[0] for i in range(2)]
    with testing.transformed_only(), testing.compared(), testing.strict():
        _, dy = jvp(f, (V,), (W,))
    for part, due in zip(dy, expected, strict=True):
        np.testing.assert_allclose(part, due, rtol=1e-7, atol=1e-9)


def test_a_hessian_product_of_what_is_kept_before_a_write():
    def f(x):
        return np.sum(kept_before_a_write(x)[0] ** 2)

    expected, _ = slope(lambda h: grad(f)(V + h * W), step=1e-3)
    for _ in range(4):
        np.testing.assert_allclose(hvp(f)(V, W), expected, rtol=1e-7, atol=1e-9)


def test_what_is_returned_may_be_written():
    def f(x):
        return x, x * 1.0

    x, dx = V.copy(), W.copy()
    for _ in range(4):
        (y, z), (dy, dz) = jvp(f, (x,), (dx,))
        dy[:], dz[:] = 0.0, 7.0
    np.testing.assert_array_equal([x, dx], [V, W])
    np.testing.assert_array_equal([y, z], [V, V])


def test_types_and_paths_that_change():
    for _ in range(4):
        assert jvp(branch, (2.0,), (1.0,)) == (8.0, 12.0)
        assert jvp(branch, (-0.5,), (1.0,)) == (-1.5, 3.0)
        assert jvp(branch, (np.float32(2.0),), (np.float32(1.0),)) == (8.0, 12.0)
        assert jvp(branch, (2,), (1.0,)) == (8, 12.0)
        _, dy = jvp(chosen, (np.array([4.0, 1.0]),), (np.ones(2),))
        np.testing.assert_array_equal(dy, [1.25, 1.5])
        with pytest.raises(TypeError, match="give one of the same shape"):
            jvp(chosen, (V,), (W[:2],))


def root(x):
    return np.where(x > 0, np.sqrt(x), 0.0)


def test_what_is_not_finite_is_left_to_the_tape():
    for _ in range(4):
        _, dy = jvp(root, (np.array([0.0, 4.0]),), (np.ones(2),))
        np.testing.assert_array_equal(dy, [0.0, 0.25])
        _, dy = jvp(np.sqrt, (np.float64(0.0),), (np.float64(0.0),))
        assert dy == 0.0
        _, dy = jvp(lambda x: math.sqrt(x), (0.0,), (1.0,))
        assert dy == math.inf


SCALE = [2.0]


def scaled(x):
    return x * SCALE[0]


def test_globals_that_change():
    for factor in (2.0, 2.0, 2.0, 5.0, 5.0, 5.0):
        SCALE[0] = factor
        assert jvp(scaled, (3.0,), (1.0,)) == (3.0 * factor, factor)


class Counter:
    def __init__(self):
        self.generator = np.random.default_rng(0)


def with_effects(x, counter):
    for i in range(2):
        x = math.sin(x) * counter.generator.normal()
        print(i, x)
    return x * x + x


def test_effects_happen_once(capsys):
    expected, _ = slope(lambda h: with_effects(0.8 + h * 0.5, Counter()), step=1e-3)
    plain = Counter()
    capsys.readouterr()
    value = with_effects(0.8, plain)
    printed, following = capsys.readouterr().out, plain.generator.normal()
    for mode in (testing.strict, testing.strict, testing.compared):
        counter = Counter()
        with testing.transformed_only(), mode():
            found, tangent = jvp(with_effects, (0.8, counter), (0.5, None))
        assert found == value
        assert (capsys.readouterr().out, counter.generator.normal()) == (printed, following)
        np.testing.assert_allclose(tangent, expected, rtol=1e-7)
    jacfwd(lambda x: [print("once"), x * x][1])(V)
    assert capsys.readouterr().out == "once\n"


def in_place(x, y):
    x[1:] = y[:-1] * x[:-1]
    y *= 2.0
    return np.sum(x * y), y[0]


def shifted_before_a_write(x):
    y = x + 1
    x[0] = 5.0
    return np.sum(y * x), x[1]


@pytest.mark.parametrize("f", [in_place, shifted_before_a_write])
def test_what_is_given_is_written_in_place(f):
    xs, dxs = ((V, W), (W, V)) if f is in_place else ((V,), (W,))
    moved = lambda h: [x + h * dx for x, dx in zip(xs, dxs, strict=True)]
    expected, _ = slope(lambda h: np.array(f(*moved(h))), step=1e-3)
    written = [x.copy() for x in xs]
    value = f(*written)
    for _ in range(3):
        given, along = [x.copy() for x in xs], [dx.copy() for dx in dxs]
        found, tangent = jvp(f, given, along)
        np.testing.assert_array_equal(found, value)
        np.testing.assert_array_equal([*given, *along], [*written, *dxs])
        np.testing.assert_allclose(tangent, expected, rtol=1e-7)


class Weight:
    w = 2.0


WEIGHT = Weight()


def of_weight(t):
    return t**3 * WEIGHT.w


def derivative_between_writes(x):
    WEIGHT.w = 3.0
    d = grad(of_weight)(x)
    WEIGHT.w = 5.0
    return d


def test_a_derivative_inside_reads_what_is_written_before_it():
    for _ in range(3):
        np.testing.assert_allclose(jvp(derivative_between_writes, (0.7,), (1.0,)), (4.41, 12.6))


def loop_over(xs, y):
    s = 0.0
    for x in xs:
        s = s + x * x * y
    return s


def test_lists_of_any_length():
    xs, dxs = [0.01 * i for i in range(90)], [0.1 * i for i in range(90)]
    expected = sum(2 * x * d * 3.0 + x * x * 0.5 for x, d in zip(xs, dxs, strict=True))
    for _ in range(3):
        with testing.transformed_only(), testing.compared(), testing.strict():
            _, dy = jvp(loop_over, (xs, 3.0), (dxs, 0.5))
        np.testing.assert_allclose(dy, expected)
        with pytest.raises(TypeError, match="give one of the same shape"):
            jvp(loop_over, (xs, 3.0), (dxs[1:], 0.5))


def steps(x, scale):
    s = 0.0
    for i in range(len(x) - 1):
        s = s + 100.0 * (x[i + 1] - (math.sin(x[i]) * scale) ** 2) ** 2
        if s > 300.0:
            break
    return s + x[0] ** 3


def recurrent(w, scale):
    h = np.ones((2, 3))
    for _ in range(4):
        h = np.tanh(h @ w * scale)
    return np.sum(h * h)


def flat_network(w, scale):
    x = np.linspace(-1.0, 1.0, 3)
    h = np.tanh(x[:, None] * w[:2] * scale + w[1:])
    return np.mean((h @ w[:2] - x * x) ** 2)


def late_branch(v, scale):
    s, w = scale * 0.5, v * 0.3
    for _ in range(3):
        if s > 0.5:  # not in the first step, of which the gradient keeps nothing there
            w = w * np.tanh(w[1:] * w[:-1]).sum()
        s = s + math.sin(s) * w[0]
    return s + np.sum(w * w)


SECOND = [(steps, V, W), (late_branch, V, W), (recurrent, M, M.T.copy()), (flat_network, V, W)]


@pytest.mark.parametrize(("f", "x", "v"), SECOND)
def test_forward_over_reverse(f, x, v):
    def along(h):
        return grad(f)(x + h * v, 0.9)

    expected, _ = slope(along, step=1e-3)
    with testing.transformed_only(), testing.compared(), testing.strict():
        product = hvp(f)(x, 0.9, v)
        _, tangent = jvp(grad(f), (x, 0.9), (v, None))
        (_, dy), (slope_of_y, dg) = jvp(value_and_grad(f), (x, 0.9), (v, None))
        matrix = hessian(f)(x, 0.9)
        _, by_scale = jvp(grad(f), (x, 0.9), (None, 1.0))
    for found in (product, tangent, dg, np.tensordot(matrix, v, x.ndim)):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(slope_of_y, np.sum(dy * v))
    expected, _ = slope(lambda h: grad(f)(x, 0.9 + h), step=1e-3)
    np.testing.assert_allclose(by_scale, expected, rtol=1e-6, atol=1e-6)


def test_each_derivative_has_its_own_tangent():
    def cube(c):
        def f(x, y):
            s = 0.0
            for _ in range(2):
                s = s + c * x**3 * y
            return s

        return f

    for c in (2.0, 3.0):
        f = cube(c)
        for _ in range(4):
            assert jvp(grad(f), (1.0, 1.0), (1.0, None)) == (6 * c, 12 * c)
            assert jvp(grad(f, "y"), (1.0, 1.0), (1.0, None)) == (2 * c, 6 * c)
            assert jvp(grad(f, (1, 0)), (1.0, 1.0), (1.0, None))[1] == (6 * c, 12 * c)
            assert hvp(f)(1.0, 1.0, 2.0) == 24 * c


def scaled_by(c):
    return lambda x, y: c * x * y


def test_the_usual_call_is_not_mistaken():
    for c in (2.0, 3.0, 5.0):
        f = scaled_by(c)
        for _ in range(4):
            assert jvp(f, [2.0, 3.0], [1.0, 1.0]) == (6 * c, 5 * c)
        assert jvp(f, (2.0, 3.0), (None, 1.0)) == (6 * c, 2 * c)
        assert jvp(f, (2.0, 3.0), (1.0, None)) == (6 * c, 3 * c)
        assert jvp(f, (2.0, np.float64(3.0)), (1.0, 1.0)) == (6 * c, 5 * c)
        for wrong in ((1.0,), (1.0, 1.0, 1.0)):
            with pytest.raises(TypeError, match=r"tangents? for 2 arguments"):
                jvp(f, (2.0, 3.0), wrong)
        with pytest.raises(TypeError, match=r"a tuple of arguments and .* \[ZL031\]"):
            jvp(f, 2.0, 1.0)
    other = type(f)(f.__code__, {**globals(), "__name__": "other"}, "other", None, f.__closure__)
    assert jvp(other, (2.0, 3.0), (1.0, 1.0)) == (30.0, 25.0)
    with testing.recorded_only():
        assert jvp(f, (2.0, 3.0), (1.0, 1.0)) == (30.0, 25.0)


def test_an_item_of_a_tuple_is_not_assigned_though_it_is_there_already():
    def f(x):
        y = x.copy()
        both = (y, y)
        both[0] *= 2.0
        return np.sum(y)

    for _ in range(3):
        with pytest.raises(TypeError, match="'tuple' object does not support item assignment"):
            jvp(f, (np.ones(2),), (np.ones(2),))


def doubled_in_place(x):
    x *= 2.0
    return x


def part_after_a_write(x):
    x[0] = 2.0 * x[1]
    return x[1:]


def one_of_two_after_a_write(x):
    x *= 2.0
    return x if x[0] > 0 else -x


def several_after_a_write(x):
    x *= 2.0
    return x.T, x + 1.0


@pytest.mark.parametrize(
    "f", [doubled_in_place, part_after_a_write, one_of_two_after_a_write, several_after_a_write]
)
def test_an_argument_that_is_written_and_returned_is_the_users(f):
    for _ in range(4):
        x = V.copy()
        y, dy = jvp(f, (x,), (W,))
        first, dfirst = (y[0], dy[0]) if type(y) is tuple else (y, dy)
        assert np.shares_memory(first, x)
        np.testing.assert_array_equal(dfirst, [2 * W, W[1:]][f is part_after_a_write])
        first[0] = 7.0
        assert 7.0 in x


def test_a_new_array_beside_an_argument_that_is_written_is_transformed():
    def tripled_after_a_write(x):
        x *= 2.0
        return x * 3.0, x.copy()

    with testing.transformed_only():
        y, dy = jvp(tripled_after_a_write, (V.copy(),), (W,))
    np.testing.assert_allclose(y, (6 * V, 2 * V))
    np.testing.assert_allclose(dy, (6 * W, 2 * W))


def test_a_call_that_is_compared_tries_once_to_make_code(monkeypatch):
    def by_identity(x):
        return x * x if x is V else x

    tried = []
    make = Specializations.make
    monkeypatch.setattr(
        Specializations, "make", lambda known, *given: tried.append(known) or make(known, *given)
    )
    with testing.compared():
        assert np.all(jvp(by_identity, (W,), (W,))[1] == W)
    assert len(tried) == 1
    assert tried[0].made == ()
