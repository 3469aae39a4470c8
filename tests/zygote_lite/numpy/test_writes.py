"""Writes into arrays: of values with more axes, and where entries share memory."""

import operator

import numpy as np
import pytest
from scipy import interpolate

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import (
    DifferentiationError,
    gradient,
    hessian,
    jvp,
    testing,
    value_and_grad,
)


def into_all(y):
    z = np.zeros(3)
    z[:] = y * y
    return np.sum(z**2 * np.arange(3.0))


def into_rows(y):
    z = np.zeros((2, 3))
    for i in range(2):
        z[i, :2] = y[None, :, :1] * y[:, 1]
    return np.sum(z**2)


def at_indices(y):
    z = np.zeros(3)
    z[[0, 0, 2]] = y * y
    return np.sum(z**2)


EXPECTED = {into_all: [0, 32, 216], into_rows: [32, 16, 0], at_indices: [0, 32, 108]}
SECOND = {into_all: [0, 48, 216], at_indices: [0, 48, 108]}


@pytest.mark.parametrize("f", EXPECTED)
def test_axes_of_length_one_in_front_are_left_out(f):
    y = np.array([[1.0, 2.0, 3.0]])
    for _ in range(3):
        np.testing.assert_allclose(gradient(f, y)[0], [EXPECTED[f]])
    if f in SECOND:
        found = np.reshape(hessian(f)(y), (3, 3))
        np.testing.assert_allclose(found, np.diag(SECOND[f]))


def test_a_pchip_of_two_points_is_a_line():
    value = lambda y: interpolate.PchipInterpolator([0.0, 1.0], y)(0.3)
    np.testing.assert_allclose(gradient(value, np.array([1.0, 3.0]))[0], [0.7, 0.3])


def spread(x):
    return np.broadcast_arrays(x, np.ones((2, 3)))[0]


def overlapping(x):
    return np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))


def double(y):
    y *= 2.0


def double_out(y):
    np.multiply(y, 2.0, out=y)


def assign(y):
    y[...] = y * 2.0


def assign_rows(y):
    y[[1, 0]] = y[0] * 2.0


@pytest.mark.filterwarnings("ignore:.*broadcast.*:DeprecationWarning")
@pytest.mark.parametrize("write", [double, double_out, assign, assign_rows])
@pytest.mark.parametrize("view", [spread, overlapping])
def test_entries_that_share_memory_are_not_written_together(view, write):
    def f(x):
        z = x * 1.0
        write(view(z))
        return np.sum(z)

    with pytest.raises(DifferentiationError, match=r"entries share memory.*write into a copy"):
        gradient(f, np.array([0.3, 0.7, 1.1]))


REFUSED = (NotImplementedError, DifferentiationError)
SIGNS = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


def masked(x):
    z = x * 1.0
    y = np.multiply(SIGNS, z, where=SIGNS > 0, out=np.zeros((2, 3)))
    z *= 2.0
    return np.sum(y**2) + np.sum(z**3)


def repeated(x):
    z = x * x
    y = np.broadcast_to(z, (2, 3))
    s = np.sum(y**2 * SIGNS)
    z *= y[0]
    return s + np.sum(y * SIGNS * z)


def windows(x):
    z = x * x
    w = np.lib.stride_tricks.sliding_window_view(z, 2)
    s = np.sum(w**2 * SIGNS[:, :2])
    z[1] = w[0, 0] * w[1, 1]
    return s + np.sum(w**2 * SIGNS[:, 1:])


def spread_out(x):
    z = np.zeros((3, 2))
    z[:, 1] = x
    wide, _ = np.broadcast_arrays(z[:, 1], SIGNS)
    z[0, 0] = x[0]
    z[1, 1] = x[2] ** 2
    return np.sum(wide**2 * SIGNS) + z[0, 0]


@pytest.mark.parametrize("f", [masked, repeated, windows, spread_out])
def test_second_derivatives_and_tangents_of_entries_that_share_memory(f):
    x, v, h = np.array([0.7, 1.2, -0.4]), np.array([0.3, -1.0, 0.5]), 1e-5
    slope = (f(x + h * v) - f(x - h * v)) / (2 * h)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], slope, rtol=1e-7)
    expected = (gradient(f, x + h * v)[0] - gradient(f, x - h * v)[0]) / (2 * h)
    np.testing.assert_allclose(hessian(f)(x) @ v, expected, rtol=1e-6)


def test_one_of_the_entries_that_share_memory_is_written():
    def f(x):
        z = x * 1.0
        y = overlapping(z)
        y[0, 1] = z[0] * 3.0  # and y[1, 0]
        return np.sum(y * [[1.0, 2.0], [3.0, 4.0]])

    for _ in range(3):
        np.testing.assert_allclose(gradient(f, np.array([0.3, 0.7, 1.1]))[0], [16.0, 0.0, 4.0])


def test_an_array_from_dlpack_is_a_view():
    def f(x):
        w = np.zeros(3)
        v = np.from_dlpack(w)
        w[0] = x * x
        v[1] = 3.0 * x
        made = np.from_dlpack(np.array([x, 2.0 * x]), copy=True)
        return v[0] * w[1] + made[0] * made[1]

    for _ in range(3):
        assert gradient(f, 2.0) == (44.0,)  # of 3 * x**3 + 2 * x**2


def mask_of_a_sum(x):
    mask = np.array([True, False, True])
    y = np.sum(x * x, where=mask)
    mask[:] = True
    return y


def index_in_a_tuple(x):
    rows = [1, 0]
    y = x[0:1, rows]
    rows[0] = 2
    return np.sum(y * y)


def index_of_a_write(x):
    rows = [1, 0]
    y = x.copy()
    y[rows] = x[:2] * 2
    rows[1] = 1
    return np.sum(y * y * np.arange(6.0).reshape(2, 3))


def weights_of_a_mean(x):
    weights = np.array([1.0, 2.0, 3.0])
    y = np.average(x, axis=1, weights=weights)
    weights[:] = 5.0
    return np.sum(y)


def widths_of_a_border(x):
    widths = [[1, 0], [0, 1]]
    y = np.pad(x, widths)
    widths[0][0], widths[0][1] = 0, 1
    return np.sum(y * np.arange(1.0, 1 + y.size).reshape(y.shape))


def added_from_a_list(x):
    y = x[0].copy()
    np.add.at(y, [0, 0, 1], [x[0, 0], x[0, 1], 3.0])
    np.subtract.at(y, [0, 1], (x[1, 0], x[1, 1]))
    return np.sum(y * y)


def made_in_an_order(x):
    y = np.array(x, order="F").ravel("K")
    y[1] *= 5.0
    return np.sum(y * np.arange(6.0)) + np.sum(np.add(x, x, order="F").ravel("K") * np.arange(6.0))


def order_of_entries_that_share_memory(x):
    y = np.broadcast_to(x[:, :, None], (2, 3, 2)).T.ravel("K")
    return y @ np.arange(12.0)


@pytest.mark.parametrize(
    "f",
    [
        mask_of_a_sum, index_in_a_tuple, index_of_a_write, weights_of_a_mean, widths_of_a_border,
        added_from_a_list, made_in_an_order, order_of_entries_that_share_memory,
    ],
)  # fmt: skip
def test_what_a_call_was_given_may_change_later(f):
    x, h = np.array([[1.31, 0.72, -0.43], [0.23, 2.1, 0.9]]), 1e-6
    steps = h * np.eye(6).reshape(6, 2, 3)
    expected = np.reshape([(f(x + e) - f(x - e)) / (2 * h) for e in steps], (2, 3))
    for _ in range(4):
        np.testing.assert_allclose(gradient(f, x.copy())[0], expected, atol=1e-7)
    if f is not widths_of_a_border:  # whose change is refused in gradients of gradients
        dy = jvp(f, (x.copy(),), (np.cos(x),))[1]
        np.testing.assert_allclose(dy, np.sum(expected * np.cos(x)), atol=1e-7)


@pytest.mark.parametrize("x", [np.array([1, 2]), np.int64(2), np.array(2)], ids=repr)
def test_tangents_and_second_derivatives_of_powers_of_integers(x):
    assert np.sum(jvp(lambda x: np.sum(x**0), (x,), (np.ones(np.shape(x)),))[1]) == 0.0
    assert np.all(hessian(lambda x: np.sum(x**0))(x) == 0.0)
    np.testing.assert_allclose(
        jvp(lambda x: np.sum(x**3), (x,), (np.ones(np.shape(x)),))[1], np.sum(3.0 * x**2)
    )


def cut_off(y, x):
    y.flat[:2] = x


def repeated(y, x):
    y.flat[1:] = x[:2]


def repeated_in_a_list(y, x):
    y.flat[[0, 3, 3]] = [x[1], 2.0]


def along_the_diagonal(y, x):
    np.fill_diagonal(y, x[:2])


def nothing(y, x):
    y.flat[1:3] = x[:0]


@pytest.mark.parametrize(
    "write", [cut_off, repeated, repeated_in_a_list, along_the_diagonal, nothing]
)
def test_an_iterator_repeats_what_is_written_or_cuts_it_off(write):
    def f(x):
        y = np.outer(x, x)
        write(y, x * 3.0)
        return np.sum(y**2)

    x = np.array([0.5, 1.5, -2.0])
    for _ in range(3):
        _, want, _ = slopes(f, (x,))[0]
        np.testing.assert_allclose(gradient(f, x)[0], want, rtol=1e-6)


def test_an_iterator_writes_one_number_at_one_place():
    def f(x):
        y = x * 1.0
        y.flat[1] = x[:2]

    with pytest.raises(ValueError, match="single item"):
        gradient(f, np.ones(3))


def at_a_mask(y):
    y[y > 0.0] = y[::-1]


def at_a_listed_mask(y):
    y.reshape(2, 2)[[[True, True], [True, True]],] = y[::-1]


def by_an_iterator(y):
    y.flat[1:] = y[:-1]


def repeated_by_an_iterator(y):
    y.flat = y[1:]


def into_a_diagonal(y):
    np.fill_diagonal(y.reshape(2, 2), y[2:])


def placed(y):
    np.place(y, y > 1.5, y[1:])


def joined_in_place(y):
    np.concatenate([y[2:], y[:2]], out=y)


def stacked_in_place(y):
    np.stack([y[2:], y[:2]], out=y.reshape(2, 2))


def range_in_place(y):
    np.ptp(y.reshape(2, 2), axis=0, out=y[1:3])


def one_of_two(y):
    np.choose([0, 1, 0, 1], [y[::-1], y], out=y, mode="clip")


def product_at_indices(y):
    np.multiply.at(y, [1, 2, 3], y[:3])


def put_at_indices(y):
    np.put(y, [1, 2, 3], y[:3])


def reversed_by_an_iterator(y):
    y.flat = y[::-1]


def at_listed_indices(y):
    y[[1, 2, 3]] = y[:3]


READ_TOO_LATE = [
    at_a_mask,
    at_a_listed_mask,
    by_an_iterator,
    repeated_by_an_iterator,
    into_a_diagonal,
    placed,
    joined_in_place,
    stacked_in_place,
    range_in_place,
    one_of_two,
]
COPIED_BY_NUMPY = [
    product_at_indices,
    put_at_indices,
    reversed_by_an_iterator,
    at_listed_indices,
]


def summed_after(write):
    """Return a function of what an array holds after a write."""

    def f(x):
        y = x * 1.0
        write(y)
        return np.sum(np.array([1.0, 10.0, 100.0, 1000.0]) * y * y)

    return f


@pytest.mark.parametrize("write", READ_TOO_LATE)
def test_what_numpy_reads_after_it_has_written_to_it_is_refused(write):
    f = summed_after(write)
    x = np.array([1.2, 2.7, 3.1, 2.2])
    for _ in range(3):
        with pytest.raises(DifferentiationError, match="what is written shares memory"):
            gradient(f, x)
        with pytest.raises(DifferentiationError, match="what is written shares memory"):
            jvp(f, (x,), (x,))
    with testing.recorded_only(), pytest.raises(DifferentiationError, match="shares memory"):
        jvp(f, (x,), (x,))


@pytest.mark.parametrize("write", COPIED_BY_NUMPY)
def test_numpy_copies_what_it_would_read_too_late(write):
    f = summed_after(write)
    x = np.array([1.2, 2.7, 3.1, 2.2])
    steps = 1e-6 * np.eye(4)
    expected = np.array([(f(x + step) - f(x - step)) / 2e-6 for step in steps])
    for _ in range(3):
        np.testing.assert_allclose(gradient(f, x)[0], expected, rtol=1e-6)
        np.testing.assert_allclose(jvp(f, (x,), (x,))[1], x @ expected, rtol=1e-6)
    with testing.recorded_only():
        np.testing.assert_allclose(jvp(f, (x,), (x,))[1], x @ expected, rtol=1e-6)


def test_an_out_of_none_makes_a_new_array():
    x = np.array([0.3, -0.7, 1.1])
    programs = {
        lambda x: np.sum(np.exp(x, out=(None,)) * x): np.exp(x) * (1 + x),
        lambda x: np.sum(np.multiply(x, x**2, out=(None,), dtype=float)): 3 * x**2,
        lambda x: np.sum(np.multiply(np.sin(x), x, where=True, out=(None,))): np.sin(x)
        + x * np.cos(x),
    }
    for f, expected in programs.items():
        for _ in range(3):
            np.testing.assert_allclose(gradient(f, x)[0], expected)


def at_no_index(y):
    y[[]] = y[:0]


def times_at_no_index(y):
    np.multiply.at(y, [], 2.0)


def at_no_row(y):
    y.reshape(2, 2)[[], 1] = 0.5


@pytest.mark.parametrize("write", [at_no_index, times_at_no_index, at_no_row])
def test_an_empty_list_is_an_index(write):
    f = summed_after(write)
    x = np.array([1.2, 2.7, 3.1, 2.2])
    expected = 2 * np.array([1.0, 10.0, 100.0, 1000.0]) * x
    for _ in range(3):
        np.testing.assert_allclose(gradient(f, x)[0], expected)
        np.testing.assert_allclose(jvp(f, (x,), (x,))[1], x @ expected)


def placed_by_a_mask(x, v, mask):
    y = 2.0 * x
    np.place(y, mask, v * v)
    return np.sum(y * y * x)


@pytest.mark.parametrize("mask", ["1010", "0110", "0000", "1111", "1000"])
def test_place_takes_more_or_fewer_values_than_it_writes(mask):
    x, v = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 0.7])
    mask = np.array([c == "1" for c in mask])
    numbers = (np.cumsum(mask) - 1) % 2
    with testing.compared(), testing.strict():
        gradient(placed_by_a_mask, x, v, np.array([True, False, True, False]))
        dx, dv, _ = gradient(placed_by_a_mask, x, v, mask)
    y = np.where(mask, v[numbers] ** 2, 2 * x)
    np.testing.assert_allclose(dx, y * y + np.where(mask, 0.0, 4 * x * y))
    expected = np.bincount(numbers[mask], 4 * (x * v[numbers] ** 3)[mask], minlength=2)
    np.testing.assert_allclose(np.zeros(2) if dv is None else dv, expected)


def test_an_array_without_axes_is_written():
    def f(x):
        y = np.zeros((2, 3))
        y[0] = np.asarray(np.sum(x * x))
        y[1, 2] = np.array(x[0] * 3.0)
        return np.sum(y * np.arange(6.0).reshape(2, 3))

    x = np.array([0.3, -0.7])
    for _ in range(3):
        np.testing.assert_allclose(gradient(f, x)[0], 6 * x + [15.0, 0.0])
    with testing.recorded_only():
        np.testing.assert_allclose(gradient(f, x)[0], 6 * x + [15.0, 0.0])


V = np.array([0.5, 2.0, 3.0])
SLICES_BY_AN_ITERATOR = {
    "the slice": lambda x, y, t: t.__imul__(x[0]),
    "the array": lambda x, y, t: y.__setitem__(0, x[1]),
    "the iterator": lambda x, y, t: operator.setitem(y.flat, slice(0, 2), x[2]),
    "itself": lambda x, y, t: operator.setitem(y.flat, slice(0, 3), t * y.flat[1:4]),
}


@pytest.mark.parametrize("written", SLICES_BY_AN_ITERATOR)
def test_a_slice_that_an_iterator_gives_is_a_copy(written):
    """The iterator is one of an array that holds what is differentiated already."""

    def f(x):
        y = np.ones(4)
        y[1] = x[0] * x[1]
        t = y.flat[:3]
        SLICES_BY_AN_ITERATOR[written](x, y, t)
        return np.sum(y * y) + np.sum(np.sin(t) * [1.0, 2.0, 3.0])

    for _ in range(3):
        value, slope = value_and_grad(f)(V)
        assert value == f(V)
        np.testing.assert_allclose(slope, slopes(f, (V,))[0][1], rtol=1e-6)


DRAWS = {
    "without a size": lambda g, y: g.random(out=y),
    "with a size": lambda g, y: g.standard_normal(3, out=y),
    "by position": lambda g, y: g.standard_exponential(None, float, "zig", y),
    "with a parameter": lambda g, y: g.standard_gamma(2.0, out=y),
    "by the class": lambda g, y: np.random.Generator.random(g, None, float, y),
    "by another name": lambda g, y: [draw(out=y) for draw in [g.random]],
}


@pytest.mark.parametrize("drawn", DRAWS)
def test_draws_into_an_array_take_its_shape(drawn):
    def f(x):
        y = x * 2.0
        before = np.sum(y * x)
        DRAWS[drawn](np.random.default_rng(1), y)
        return before + np.sum(y * x)

    for _ in range(3):
        value, slope = value_and_grad(f)(V)
        assert value == f(V)
        np.testing.assert_allclose(slope, slopes(f, (V,))[0][1], rtol=1e-6)


TAKEN = {
    "more axes": (lambda x, out: np.clip(x, -1.0, 1.0, out=out), (2, 3), float),
    "by a generalized ufunc": (lambda x, out: np.vecdot(x[None], x, out=out), (2,), float),
    "single": (lambda x, out: np.add(x, x, out=out), (3,), np.float32),
    "a tuple": (lambda x, out: np.multiply(x, x, out=(out,)), (3,), float),
}
REFUSED = {
    "no parameter": (lambda x, out: np.cross(x, x[::-1], out=out), (3,), float, TypeError),
    "no tuple": (lambda x, out: np.take(x, [0, 1, 2], out=(out,)), (3,), float, TypeError),
    "of a product": (lambda x, out: np.dot(x, x, out=out), (), np.float32, ValueError),
    "of a choice": (lambda x, out: np.compress([1, 1], x, out=out), (2, 2), float, ValueError),
    "of a sum": (lambda x, out: np.sum(x, out=out), (3,), float, ValueError),
    "of einsum": (lambda x, out: np.einsum("i,i->i", x, x, out=out), (3,), np.float32, TypeError),
}


@pytest.mark.parametrize("name", TAKEN)
def test_out_may_have_more_axes_or_another_dtype_where_numpy_takes_it(name):
    f, shape, dtype = TAKEN[name]

    def total(x):
        out = np.zeros(shape, dtype)
        f(x, out)
        return np.sum(out**2)

    x = np.array([0.3, -0.5, 0.7])
    step = 2e-3 if dtype is float else 0.05
    _, want, _ = slopes(total, (x,), step)[0]
    for _ in range(3):
        tolerance = 1e-6 if dtype is float else 1e-4
        np.testing.assert_allclose(gradient(total, x)[0], want, rtol=tolerance)


@pytest.mark.parametrize("name", REFUSED)
def test_out_raises_where_numpy_does(name):
    f, shape, dtype, error = REFUSED[name]

    def total(x):
        out = np.zeros(shape, dtype)
        f(x, out)
        return np.sum(out)

    x = np.array([0.3, -0.5, 0.7])
    with pytest.raises(error) as wanted:
        total(x)
    for _ in range(3):
        with pytest.raises(error) as found:
            gradient(total, x)
        assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind"])
def test_casting_beside_out_only_forbids(casting):
    def f(x):
        y = np.zeros((2, 3))
        np.multiply(x, np.array([[2.0], [3.0]]), out=y[:, :], casting=casting)
        return np.sum(y**2)

    x = np.array([1.0, -2.0, 0.5])
    for _ in range(3):
        np.testing.assert_allclose(gradient(f, x)[0], 26.0 * x)


def test_casting_beside_out_raises_what_numpy_raises():
    def f(x):
        y = np.zeros(3, np.float32)
        np.multiply(x, 2.0, out=y, casting="safe")
        return np.sum(y)

    for _ in range(3):
        with pytest.raises(TypeError, match="with casting rule 'safe'"):
            gradient(f, np.ones(3))
