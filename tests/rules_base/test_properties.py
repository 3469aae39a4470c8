"""Broadcasting, indexing and reducing, for arrays of any shape."""

import operator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rulescore import rrule

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
few = settings(max_examples=60, deadline=None)


def filled(shape, start=1.0):
    """Return an array of different numbers."""
    return np.sin(np.arange(start, start + np.prod(shape, dtype=int))).reshape(shape)


@few
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=0))
def test_broadcasting_is_undone(shapes):
    x, y = (filled(shape) for shape in shapes.input_shapes)
    dout = filled(shapes.result_shape, 5.0)
    _, dx, dy = rrule(np.multiply, x, y)[1](dout)
    for d, own, other in ((dx, x, y), (dy, y, x)):
        assert np.shape(d) == own.shape
        places = np.broadcast_to(np.arange(own.size).reshape(own.shape), dout.shape)
        weights = (dout * other).ravel()
        np.testing.assert_allclose(np.ravel(d), np.bincount(places.ravel(), weights, own.size))


def indices(shape):
    basic = hnp.basic_indices(shape, allow_newaxis=True)
    if 0 in shape or not shape:
        return basic
    integers = hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2))
    rows = hnp.arrays(np.int64, hnp.array_shapes(max_dims=2, min_side=0), elements=row_of(shape))
    masks = hnp.arrays(np.bool_, shape)
    return st.one_of(basic, integers, rows, masks)


def row_of(shape):
    return st.integers(-shape[0], shape[0] - 1)


@few
@given(st.data())
def test_what_an_index_reads_is_scattered_back(data):
    shape = data.draw(SHAPES)
    index = data.draw(indices(shape))
    x = filled(shape)
    y, back = rrule(operator.getitem, x, index)
    dy = filled(np.shape(y), 5.0)
    _, dx, none = back(dy)
    assert none is None
    assert dx.shape == x.shape
    places = np.ravel(np.arange(x.size).reshape(shape)[index])
    np.testing.assert_allclose(np.ravel(dx), np.bincount(places, np.ravel(dy), x.size), atol=1e-15)


@few
@given(st.data(), st.sampled_from([np.sum, np.mean, np.prod]), st.booleans())
def test_reducing_spreads_back(data, f, keepdims):
    shape = data.draw(hnp.array_shapes(max_dims=4, max_side=3))
    axis = data.draw(st.one_of(st.none(), hnp.valid_tuple_axes(len(shape))))
    x = filled(shape)
    y, back = rrule(f, x, axis=axis, keepdims=keepdims)
    dy = filled(np.shape(y), 5.0)
    _, dx = back(dy)
    assert dx.shape == shape
    v = filled(shape, 9.0)
    h = 1e-6
    up, down = (f(x + s * v, axis=axis, keepdims=keepdims) for s in (h, -h))
    slope = np.sum(dy * (up - down)) / (2 * h)
    np.testing.assert_allclose(np.sum(dx * v), slope, rtol=1e-6, atol=1e-8)
