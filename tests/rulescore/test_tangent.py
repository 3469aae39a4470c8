"""Cotangents of structured values, and their sum, of every kind and of kinds that do not fit."""

import collections
import copy
import fractions
import pickle

import numpy as np
import pytest

from rulescore import Tangent, accumulate, project, zero

Point = collections.namedtuple("Point", "x y")
V = np.array([1.0, 2.0])


class Line:
    pass


class Other:
    pass


SUMS = [
    (None, None, None),
    (None, 1.0, 1.0),
    (1.0, None, 1.0),
    (1.0, 2.0, 3.0),
    (1.0, 2j, 1 + 2j),
    (np.float32(1), np.float32(2), np.float32(3)),
    (V, V, 2 * V),
    (np.array(1.0), 2.0, 3.0),
    (np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2))),
    ((1.0, None), (None, 2.0), (1.0, 2.0)),
    ([1.0, [V]], [2.0, [V]], [3.0, [2 * V]]),
    ((), (), ()),
    ([], [], []),
    (Point(1.0, None), Point(2.0, V), Point(3.0, V)),
    (Point(1.0, 2.0), (1.0, 2.0), Point(2.0, 4.0)),
    ({"a": 1.0}, {"a": 2.0, "b": V}, {"a": 3.0, "b": V}),
    ({"a": 1.0, "b": V}, {"b": V}, {"a": 1.0, "b": 2 * V}),
    ({}, {"a": 1.0}, {"a": 1.0}),
    (Tangent(Line, a=1.0), Tangent(Line, a=2.0, b=3.0), Tangent(Line, a=3.0, b=3.0)),
    (Tangent(Line, a=[1.0]), Tangent(Line, a=[2.0]), Tangent(Line, a=[3.0])),
    (Tangent(Line), Tangent(Line), Tangent(Line)),
]


def same(a, b):
    assert type(a) is type(b) or (np.ndim(a) == 0 and np.ndim(b) == 0)
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, dict | Tangent):
        assert a.keys() == b.keys()
        for name in a.keys():
            same(a[name], b[name])
    elif a is not None:
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("a", "b", "total"), SUMS, ids=map(str, range(len(SUMS))))
def test_sums(a, b, total):
    before = copy.deepcopy((a, b))
    same(accumulate(a, b), total)
    if not isinstance(a, Point):
        same(accumulate(b, a), total)
    same((a, b), before)


MISMATCHED = [
    (V, np.ones(3), ValueError, r"shapes \(2,\) and \(3,\)"),
    (1.0, V, ValueError, r"shapes \(\) and \(2,\)"),
    (V, np.ones((1, 2)), ValueError, "shapes"),
    ((1.0,), (1.0, 2.0), ValueError, "lengths 1 and 2"),
    ([1.0], (1.0,), TypeError, "list and tuple"),
    ([1.0], V, TypeError, "list and ndarray"),
    (V, [1.0, 2.0], TypeError, "ndarray and list"),
    (1.0, {"a": 1.0}, TypeError, "float and dict"),
    ({"a": 1.0}, 1.0, TypeError, "dict and float"),
    ({"a": 1.0}, {"b": 1.0}, ValueError, r"keys differ: \['a'\] and \['b'\]"),
    ({"a": 1.0}, Tangent(Line, a=1.0), TypeError, "dict and Tangent"),
    (Tangent(Line, a=1.0), {"a": 1.0}, TypeError, "Tangent and dict"),
    (Tangent(Line, a=1.0), Tangent(Other, a=1.0), TypeError, "Tangent and Tangent"),
    (Tangent(Line, a=1.0), Tangent(Line, b=1.0), ValueError, "keys differ"),
    (Tangent(Line, a=1.0), 1.0, TypeError, "Tangent and float"),
    ([1.0, V], [1.0, np.ones(3)], ValueError, "shapes"),
]


@pytest.mark.parametrize(
    ("a", "b", "error", "message"), MISMATCHED, ids=map(str, range(len(MISMATCHED)))
)
def test_cotangents_that_are_not_of_one_value_do_not_add(a, b, error, message):
    with pytest.raises(error, match=message):
        accumulate(a, b)


def test_foreign_arrays_add_up(foreign):
    found = accumulate(foreign([1.0, 2.0]), foreign([3.0, 4.0]))
    assert isinstance(found, foreign)
    np.testing.assert_array_equal(found.data, [4.0, 6.0])


def test_fields_are_read_as_attributes_and_as_entries():
    dm = Tangent(Line, weights=V, bias=None)
    assert dm.weights is dm["weights"] is V
    assert dm.bias is None
    assert dict(dm) == {"weights": V, "bias": None}
    assert dict(dm.items()) == dict(dm)
    assert (list(dm), len(dm), "bias" in dm, "b" in dm) == (["weights", "bias"], 2, True, False)
    assert repr(dm) == f"Tangent[Line](weights={V!r}, bias=None)"
    with pytest.raises(AttributeError, match="Line has no field 'slope'; it has: weights, bias"):
        _ = dm.slope
    with pytest.raises(AttributeError, match="it has: none"):
        _ = Tangent(Line).slope
    with pytest.raises(KeyError):
        dm["slope"]


def test_a_tangent_of_a_named_tuple_has_its_indices():
    dp = Tangent(collections.namedtuple("Point", "x y"), x=1.0, y=2.0)
    assert (dp[0], dp[-1], dp[np.int64(1)], dp[:1], dp["x"]) == (1.0, 2.0, 2.0, (1.0,), 1.0)
    with pytest.raises(IndexError):
        dp[2]
    with pytest.raises(KeyError, match="cotangent of Point has no field 'z'; it has: x, y"):
        dp["z"]
    with pytest.raises(KeyError, match="cotangent of Fraction has no field 0; it has: n"):
        Tangent(fractions.Fraction, n=1.0)[0]


def test_the_text_of_a_large_cotangent_is_cut():
    inner = Tangent(Line, weights=np.ones((30, 30)), bias=list(range(10_000)))
    dm = Tangent(Line, weights=np.arange(100.0), inner=inner, **{f"b{i}": 1.0 for i in range(30)})
    text = repr(dm)
    assert repr(np.arange(100.0)) in text
    assert "..., 1., 1., 1.]]" in text
    assert "0, 1, 2" in text
    assert text.endswith("b17=1.0, ... and 12 more)")
    assert len(text) < 3000
    assert dict(dm) == dict(dm.items())  # which has all


def test_a_tangent_is_equal_to_one_of_the_same_type_and_fields():
    assert Tangent(Line, a=1.0) == Tangent(Line, a=1.0)
    assert Tangent(Line, a=1.0) != Tangent(Line, a=2.0)
    assert Tangent(Line, a=1.0) != Tangent(Other, a=1.0)
    assert Tangent(Line, a=1.0) != {"a": 1.0}
    with pytest.raises(TypeError):
        hash(Tangent(Line))


def test_a_tangent_may_be_copied_and_pickled():
    dm = Tangent(Line, a=1.0, primal=2.0)
    for there in (copy.copy(dm), copy.deepcopy(dm)):
        assert there == dm
        assert there is not dm
    assert pickle.loads(pickle.dumps(Tangent(dict, a=1.0))) == Tangent(dict, a=1.0)


def test_tangents_add_subtract_and_scale():
    a, b = Tangent(Line, a=V, b=[1.0, (None, 2.0)]), Tangent(Line, a=2 * V, b=[3.0, (1.0, 4.0)])
    before = copy.deepcopy((a, b))
    same(a + b, Tangent(Line, a=3 * V, b=[4.0, (1.0, 6.0)]))
    same(b - a, Tangent(Line, a=V, b=[2.0, (1.0, 2.0)]))
    same(a - b, Tangent(Line, a=-V, b=[-2.0, (-1.0, -2.0)]))
    for scaled in (2 * a, a * 2.0, np.float64(2) * a, a * np.array(2.0), a / 0.5, -a * -2):
        same(scaled, Tangent(Line, a=2 * V, b=[2.0, (None, 4.0)]))
    same(Tangent(Line, p=Point(1.0, {"x": V})) * 2, Tangent(Line, p=Point(2.0, {"x": 2 * V})))
    same((a, b), before)


def test_a_scaled_tangent_keeps_its_precision():
    dm = Tangent(Line, a=np.ones(2, np.float32), b=np.float32(1))
    for factor in (2, 0.5, np.float64(0.5), np.array(2.0)):
        for scaled in (dm * factor, factor * dm, dm / factor, -dm, dm + dm, dm - dm):
            assert scaled.a.dtype == scaled.b.dtype == np.float32


NO_SUMMANDS = [1.0, "a", None, V, Tangent(Other, a=1.0), {"a": 1.0}]
NO_FACTORS = ["a", None, V, Tangent(Line, a=1.0)]


@pytest.mark.parametrize("other", NO_SUMMANDS, ids=range(len(NO_SUMMANDS)))
def test_what_is_no_tangent_of_the_same_type_does_not_add(other):
    dm = Tangent(Line, a=1.0)
    for add in (lambda: dm + other, lambda: other + dm, lambda: dm - other):
        with pytest.raises(TypeError):
            add()


@pytest.mark.parametrize("other", NO_FACTORS, ids=range(len(NO_FACTORS)))
def test_a_tangent_is_scaled_by_numbers_alone(other):
    dm = Tangent(Line, a=1.0)
    for scale in (lambda: dm * other, lambda: other * dm, lambda: dm / other):
        with pytest.raises(TypeError):
            scale()


def test_tuples_that_share_their_parts_are_walked_once():
    t, numbers = (V, 2.0), (1.0, 2.0)
    for _ in range(40):
        t, numbers = (t, t), (numbers, numbers)
    total, projected, nothing = accumulate(t, t), project(t, t), zero(numbers)
    for _ in range(40):
        total, projected, nothing = total[1], projected[0], nothing[1]
    same((total, projected, nothing), ((2 * V, 4.0), (V, 2.0), (0.0, 0.0)))


def test_zeros_that_can_be_written_to_are_one_for_each_place():
    part = (V, 2.0)
    first, second, (third, _) = zero((part, part, (part, 1.0)))
    first[0][:], second[0][:] = 1.0, 2.0
    same((first, second, third), ((V * 0 + 1, 0.0), (V * 0 + 2, 0.0), (V * 0, 0.0)))
