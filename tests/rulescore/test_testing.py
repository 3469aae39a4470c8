"""The tester is tested: broken rules are caught, each by the right message, and right ones pass."""

import collections
import copy
import random
import subprocess
import sys

import numpy as np
import pytest

from rulescore import Array, Numeric, Tangent, project
from rulescore.testing import CheckError, check_rrule

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])
V = np.array([0.5, -0.8, 1.3])
KEPT = []
BUFFER = np.empty_like(X)


def cube(x):
    return x**3


def scaled(x, y):
    return x * y


def total(x, axis=None):
    return np.sum(x, axis)


def halves(x):
    return x[: len(x) // 2], x[len(x) // 2 :]


def summed(x, axes=()):
    return np.sum(x, tuple(axes))


def rectified(x):
    return np.where(x > 0, x**2, -x)


def ordered(x):
    return np.sort(x)


def duplicate(x):
    return x.copy()


def at(line, x):
    return line(x)


def sums(xs):
    return xs[0] ** 2 + 3.0 * xs[1]


def holomorphic(z):
    return z * z


class Line:
    def __init__(self, slope, offset):
        self.slope = slope
        self.offset = offset

    def __call__(self, x):
        return self.slope * x + self.offset


# Each is a function, its arguments and options, the broken body, and what the tester has to say.


def wrong_factor(x: Array):
    return x**3, lambda dy: (2 * x**2 * dy,)


def wrong_sign(x: Array):
    return x**3, lambda dy: (-3 * x**2 * dy,)


def missing_conjugate(z: Numeric):
    return z * z, lambda dy: (2 * z * dy,)


def lost_broadcast_sum(x: Array, y: Array):
    return x * y, lambda dy: (dy * y, dy[0] * x[0])


def unsummed(x: Array, y: Array):
    return x * y, lambda dy: (dy * y, dy * x)


def extra_slot(x: Array):
    return x**3, lambda dy: (3 * x**2 * dy, None)


def missing_slot(x: Array, y: Array):
    return x * y, lambda dy: (project(dy * y, x),)


def returns_a_list(x: Array):
    return x**3, lambda dy: [3 * x**2 * dy]


def mutates_dy(x: Array):
    def pullback(dy):
        dy *= 3 * x**2
        return (dy,)

    return x**3, pullback


def mutates_read_only_dy(x: Array):
    def pullback(dy):
        if dy.flags.writeable:
            return (3 * x**2 * dy,)
        dy[...] = 0
        return (dy,)

    return x**3, pullback


def mutates_x_forward(x: Array):
    y = x**3
    x *= 2
    return y, lambda dy: (3 * (x / 2) ** 2 * dy,)


def mutates_x_back(x: Array):
    y = x**3

    def pullback(dy):
        np.square(x, out=x)
        return (3 * x * dy,)

    return y, pullback


def wrong_dtype(x: Array):
    return x**3, lambda dy: (3 * x.astype(np.float64) ** 2 * dy,)


def complex_for_real(x: Array):
    return x**3, lambda dy: (3 * x**2 * dy + 0j,)


def wrong_container(xs: list):
    return sums(xs), lambda dy: ((2 * xs[0] * dy, 3.0 * dy),)


def array_for_list(xs: list):
    return sums(xs), lambda dy: (np.array([2 * xs[0] * dy, 3.0 * dy]),)


def wrong_leaf(xs: list):
    return sums(xs), lambda dy: ([2 * xs[0] * dy, 2.0 * dy],)


def wrong_entry(d: dict):
    return d["a"] * d["b"], lambda dy: ({"a": dy * d["b"], "b": dy * d["b"]},)


def forgotten_argument(x: Array, y: Array):
    return x * y, lambda dy: (project(dy * y, x), None)


def one_shot(x: Array):
    saved = [3 * x**2]
    return x**3, lambda dy: (saved.pop() * dy,)


def accumulates(x: Array):
    buffer = np.zeros_like(x)

    def pullback(dy):
        buffer[...] += 3 * x**2 * dy
        return (buffer.copy(),)

    return x**3, pullback


def hands_out_its_buffer(x: Array):
    factor = 3 * x**2

    def pullback(dy):
        np.multiply(factor, dy, out=buffer)
        return (buffer,)

    buffer = np.empty_like(x)
    return x**3, pullback


def overwrites_instead_of_accumulating(x: Array, i: Array):
    def pullback(dy):
        dx = np.zeros_like(x)
        dx[i] = dy
        return dx, None

    return x[i], pullback


def ignores_an_option(x: Array, axis: object = None):
    return np.sum(x, axis), lambda dy: (np.broadcast_to(dy, x.shape).copy(),)


def ignores_an_option_forward(x: Array, axis: object = None):
    return np.sum(x), lambda dy: (dy * np.ones_like(x),)


def changes_arity(x: Array, *, axis: object = None):
    def pullback(dy):
        if axis is None:
            return dy * np.ones_like(x), None
        return (np.expand_dims(dy, axis) * np.ones_like(x),)

    return np.sum(x, axis), pullback


def aliases_its_input(x: Array, y: Array):
    def pullback(dy):
        return (y if dy == 1 else dy * y), dy * x

    return np.sum(x * y), pullback


def aliases_the_result(x: Array):
    y = np.exp(x)
    return y, lambda dy: (y if np.all(dy == 1) else dy * y,)


def one_array_for_both(x: Array, y: Array):
    def pullback(dy):
        d = 1.0 * dy
        return d, d

    return x + y, pullback


def not_linear(x: Array):
    def pullback(dy):
        return (3 * x**2 * dy + (np.abs(dy) > 2) * 0.1,)

    return x**3, pullback


def affine(x: Array):
    return x**3, lambda dy: (3 * x**2 * dy + 1e-3,)


def wrong_value(x: Array):
    return x**3 + 1e-6, lambda dy: (3 * x**2 * dy,)


def wrong_kind_of_value(x: float):
    return np.float64(x**3), lambda dy: (3 * x**2 * dy,)


def draws_random_numbers(x: Array):
    np.random.rand()
    return x**3, lambda dy: (3 * x**2 * dy,)


def draws_random_numbers_back(x: Array):
    def pullback(dy):
        random.random()
        return (3 * x**2 * dy,)

    return x**3, pullback


def grows(x: Array):
    KEPT.append([x + i for i in range(2)])
    return x**3, lambda dy: (3 * x**2 * dy,)


def forgets_strides(x: Array):
    def pullback(dy):
        flat = np.frombuffer(dy.data if dy.flags.c_contiguous else dy.base.data, dy.dtype, dy.size)
        return (3 * x**2 * flat.reshape(x.shape),)

    return x**3, pullback


def fails_for_0_d(x: np.float64):
    def pullback(dy):
        if isinstance(dy, np.ndarray):
            raise TypeError("no arrays")
        return (3 * x**2 * dy,)

    return x**3, pullback


def gradient_of_bool(x: Array, keep: bool):
    return x * keep, lambda dy: (dy * keep, np.sum(dy * x))


def no_none_in_a_tuple(x: Array):
    return halves(x), lambda dys: (np.concatenate([np.asarray(dy, float) for dy in dys]),)


def wrong_field(line: Line, x: float):
    return line(x), lambda dy: (Tangent(Line, slope=dy * x, offset=2 * dy), dy * line.slope)


def caches_the_first_dy(x: Array):
    first = []

    def pullback(dy):
        first.append(3 * x**2 * dy)
        return (first[0].copy(),)

    return x**3, pullback


def changes_error_handling(x: Array):
    def pullback(dy):
        np.seterr(all="warn")
        return (3 * x**2 * dy,)

    return x**3, pullback


def forgets_the_order_of_x(x: Array):
    def pullback(dy):
        flat = np.ravel(3 * x**2 * dy)
        return (np.reshape(flat, x.shape, order="F" if x.flags.fnc else "C"),)

    return x**3, pullback


def result_is_the_argument(x: Array):
    return x, lambda dy: (1.0 * dy,)


def module_buffer(x: Array):
    return x**3, lambda dy: (np.multiply(3 * x**2, dy, out=BUFFER),)


def none_for_an_entry(xs: list):
    return sums(xs), lambda dy: ([2 * xs[0] * dy, None],)


def wrong_at_a_zero_dy(x: Array):
    return x**3, lambda dy: (3 * x**2 * dy if np.any(dy) else np.ones_like(x),)


def changes_an_option(x: Array, *, axes=()):
    y = summed(x, axes)
    kept = tuple(axes)

    def pullback(dy):
        if axes:
            axes.clear()
        return (np.broadcast_to(np.expand_dims(dy, kept), x.shape).copy(),)

    return y, pullback


def instance_for_an_object(line: Line, x: float):
    return line(x), lambda dy: (Line(dy * x, dy), dy * line.slope)


def state_of_all_calls(x: Array):
    KEPT[:] = [x]
    return x**3, lambda dy: (3 * KEPT[0] ** 2 * dy,)


def wrong_branch(x: Array):
    return rectified(x), lambda dy: (dy * np.where(x > 0, 2 * x, 1.0),)


def inverse_permutation(x: Array):
    return np.sort(x), lambda dy: (dy[np.argsort(x)],)


def real_part_of_dy(z: Array):
    return z * z, lambda dy: (2 * np.conj(z) * dy.real,)


def one_entry_of_many(x: Array):
    def pullback(dy):
        dx = 3 * x**2 * dy
        dx[-1] *= 1.001
        return (dx,)

    return x**3, pullback


def same_buffer_for_all_values(x: Array):
    np.power(x, 3, out=BUFFER)
    return BUFFER, lambda dy: (3 * x**2 * dy,)


def destroys_the_value(x: Array):
    y = x**3

    def pullback(dy):
        y[...] = 0
        return (3 * x**2 * dy,)

    return y, pullback


def changes_error_handling_forward(x: Array):
    np.seterr(all="ignore")
    return x**3, lambda dy: (3 * x**2 * dy,)


def clips_dy(x: Array):
    return x**3, lambda dy: (3 * x**2 * np.clip(dy, -1e3, 1e3),)


def drops_small_dy(x: Array):
    return x**3, lambda dy: (3 * x**2 * np.where(np.abs(dy) < 1e-8, 0, dy),)


def single_precision_inside(x: Array):
    return x**3, lambda dy: ((3 * x**2 * dy).astype(np.float32).astype(np.float64),)


def writes_back_what_was_there(x: Array):
    kept = x.copy()

    def pullback(dy):
        x[...] = kept
        return (3 * x**2 * dy,)

    return x**3, pullback


def forgets_none_in_a_list(x: Array):
    return list(halves(x)), lambda dy: (np.concatenate([d for d in dy if d is not None]),)


def other_default(x: Array, *, axis: object = 0):
    return np.sum(x, axis), lambda dy: (np.expand_dims(dy, axis) * np.ones_like(x),)


def keeps_arguments(x: Array):
    ALL_KEPT.append(x.copy())
    return x**3, lambda dy: (3 * x**2 * dy,)


def forgets_a_field(line: Line, x: float):
    return line(x), lambda dy: (Tangent(Line, slope=dy * x), dy * line.slope)


def slope_of_a_large_value(x: Array):
    return far(x), lambda dy: (1.5 * dy,)


def small_slope(x: Array):
    return faint(x), lambda dy: (2e-9 * dy,)


def a_part_that_needs_another(x: Array, y: Array):
    kept = []

    def dx(dz):
        kept[:] = [dz]
        return project(dz * y, x)

    return x * y, (dx, lambda dz: project(kept[0] * x, y))


def a_part_that_changes_another(x: Array, y: Array):
    factors = [y, x]

    def dy(dz):
        factors[0] = 2 * y
        return project(dz * factors[1], y)

    return x * y, (lambda dz: project(dz * factors[0], x), dy)


def a_part_that_is_no_function(x: Array, y: Array):
    return x * y, (lambda dz: project(dz * y, x), x)


def a_part_too_few(x: Array, y: Array):
    return x * y, (lambda dz: project(dz * y, x),)


def a_part_with_a_wrong_factor(x: Array, y: Array):
    parts = lambda dz: project(dz * y, x), lambda dz: 2 * project(dz * x, y)
    return x * y, (lambda dz: dz, parts)


BUFFER, ALL_KEPT = np.zeros((2, 3)), []


def far(x):
    return 1e9 + x


def faint(x):
    return 1e-9 * x


def half_list(x):
    return list(halves(x))


def takes_a_row(x, keep):
    return x * keep


def take(x, i):
    return x[i]


def product(d):
    return d["a"] * d["b"]


def plus(x, y):
    return x + y


def dotted(x, y):
    return np.sum(x * y)


def exponential(x):
    return np.exp(x)


LONG = np.array([0.4, -0.9, 1.2, 0.8])
BROKEN = {
    "wrong factor": (wrong_factor, cube, [X], "argument 1: along a random direction"),
    "wrong sign": (wrong_sign, cube, [X], "argument 1: along a random direction"),
    "missing conjugate": (
        missing_conjugate,
        holomorphic,
        [0.3 + 0.7j],
        "argument 1 (real part): along",
    ),
    "missing conjugate of arrays": (missing_conjugate, holomorphic, [X + 1j], "argument 1 ("),
    "lost broadcast sum": (lost_broadcast_sum, scaled, [X, V], "argument 2: along a random"),
    "broadcasting not undone": (unsummed, scaled, [X, V], "of shape (2, 3) for argument 2"),
    "extra slot": (extra_slot, cube, [X], "returned 2 cotangents where 1 was due"),
    "missing slot": (missing_slot, scaled, [X, V], "returned 1 cotangent where 2 were due"),
    "returns a list": (returns_a_list, cube, [X], "return a tuple"),
    "mutates dy": (mutates_dy, cube, [X], "the pullback changes `dy`"),
    "mutates read-only dy": (mutates_read_only_dy, cube, [X], "read-only"),
    "mutates x": (mutates_x_forward, cube, [X], "a call by the rule changes its arguments"),
    "mutates x back": (mutates_x_back, cube, [X], "the pullback changes argument 1"),
    "wrong dtype": (wrong_dtype, cube, [X.astype(np.float32)], "ndarray of float64[2, 3]"),
    "complex for real": (complex_for_real, cube, [X], "ndarray of complex128[2, 3]"),
    "wrong container": (wrong_container, sums, [[0.3, 0.4]], "tuple of length 2 for argument 1"),
    "array for a list": (array_for_list, sums, [[0.3, 0.4]], "ndarray of shape (2,) for argument"),
    "wrong leaf": (wrong_leaf, sums, [[0.3, 0.4]], "argument 1[1]: along a random direction"),
    "wrong entry": (wrong_entry, product, [{"a": 0.3, "b": 0.4}], "argument 1['b']: along"),
    "forgotten argument": (forgotten_argument, scaled, [X, V], "(the cotangent is None)"),
    "one-shot": (one_shot, cube, [X], "IndexError: pop from empty list"),
    "accumulates over calls": (accumulates, cube, [X], "argument 1"),
    "hands out its buffer": (hands_out_its_buffer, cube, [X], "argument 1"),
    "overwrites": (
        overwrites_instead_of_accumulating,
        take,
        [V, np.array([0, 2, 0])],
        "argument 1: along a random direction",
    ),
    "ignores an option": (ignores_an_option, total, [X, 1], "raises ValueError"),
    "ignores an option forward": (ignores_an_option_forward, total, [X, 1], "the value differs"),
    "arity varies": (changes_arity, total, [X], "without the option axis", {"axis": 1}),
    "aliases its input": (aliases_its_input, dotted, [V, V + 1], "is memory of argument 2"),
    "aliases the result": (aliases_the_result, exponential, [V], "is memory of the result"),
    "one array for both": (one_array_for_both, plus, [V, V + 1], "is memory of that of argument 1"),
    "not linear": (not_linear, cube, [X], "argument 1"),
    "affine": (affine, cube, [X], "argument 1"),
    "wrong value": (wrong_value, cube, [X], "the value differs from the function's"),
    "another kind of value": (wrong_kind_of_value, cube, [0.3], "float64 of float64[] and float"),
    "draws random numbers": (draws_random_numbers, cube, [X], "the rule draws random numbers"),
    "draws them back": (draws_random_numbers_back, cube, [X], "the pullback draws random numbers"),
    "grows": (grows, cube, [X], "each call keeps memory"),
    "forgets strides": (forgets_strides, cube, [X], "strided `dy`"),
    "fails for 0-d": (fails_for_0_d, cube, [np.float64(0.3)], "a 0-d `dy` raises TypeError"),
    "gradient of a bool": (gradient_of_bool, takes_a_row, [X, True], "None is due"),
    "caches the first dy": (caches_the_first_dy, cube, [X], "not linear in `dy`"),
    "changes error handling": (changes_error_handling, cube, [X], "floating-point errors"),
    "order of x": (forgets_the_order_of_x, cube, [X], "Fortran-ordered arguments give something"),
    "the result is the argument": (result_is_the_argument, duplicate, [X], "the function copies"),
    "a buffer of the module": (module_buffer, cube, [X], "argument 1"),
    "None for an entry": (none_for_an_entry, sums, [[0.3, 0.4]], "argument 1[1]: along a random"),
    "wrong at a zero dy": (wrong_at_a_zero_dy, cube, [X], "of a zero `dy` is not zero"),
    "changes an option": (changes_an_option, summed, [X], "the option axes", {"axes": [0]}),
    "instance for an object": (instance_for_an_object, at, [Line(0.3, 0.4), 0.7], "is Line, and"),
    "state of all calls": (state_of_all_calls, cube, [X], "another call of the rule changes"),
    "wrong branch": (wrong_branch, rectified, [X], "argument 1: along a random direction"),
    "inverse permutation": (
        inverse_permutation,
        ordered,
        [X[0, ::-1] ** 2],
        "argument 1: along a random",
    ),
    "real part of dy": (real_part_of_dy, holomorphic, [X + 1j], "argument 1 ("),
    "one of many entries": (one_entry_of_many, cube, [np.linspace(0.5, 1.5, 10_000)], "argument 1"),
    "one buffer for all values": (same_buffer_for_all_values, cube, [X], "changes the value"),
    "destroys the value": (destroys_the_value, cube, [X], "the pullback changes the value"),
    "changes error handling forward": (
        changes_error_handling_forward,
        cube,
        [X],
        "the rule changes how NumPy handles floating-point errors",
    ),
    "clips dy": (clips_dy, cube, [X], "times `dy` gives something else"),
    "drops small dy": (drops_small_dy, cube, [X], "times `dy` gives something else"),
    "single precision inside": (single_precision_inside, cube, [X], "not linear in `dy`"),
    "writes back": (writes_back_what_was_there, cube, [X], "for read-only arguments it raises"),
    "None in a list": (forgets_none_in_a_list, half_list, [LONG], "returned a cotangent of"),
    "another default": (
        other_default,
        total,
        [X],
        "the value differs without the option axis",
        {"axis": 1},
    ),
    "keeps arguments": (keeps_arguments, cube, [X], "each call keeps memory"),
    "forgets a field": (
        forgets_a_field,
        at,
        [Line(0.3, 0.4), 0.7],
        "argument 1.offset: along a random direction",
    ),
    "slope of a large value": (slope_of_a_large_value, far, [X], "argument 1: along a random"),
    "a small slope": (small_slope, faint, [X], "argument 1: along a random direction"),
    "a part needs another": (a_part_that_needs_another, scaled, [X, V], "IndexError: list index"),
    "a part changes another": (
        a_part_that_changes_another,
        scaled,
        [X, V],
        "argument 1 : the pullback is not linear",
    ),
    "a part is no function": (a_part_that_is_no_function, scaled, [X, V], "has ndarray of shape"),
    "a part too few": (a_part_too_few, scaled, [X, V], "returned 1 cotangent where 2 were due"),
    "a wrong part": (a_part_with_a_wrong_factor, scaled, [X, V], "argument 2: along a random"),
    "no None in a tuple": (no_none_in_a_tuple, halves, [LONG], "`dy[0]` of None"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_caught(rule, name):
    body, f, xs, message, *options = BROKEN[name]
    rule(f)(body)
    with pytest.raises(CheckError) as caught:
        check_rrule(f, *copy.deepcopy(xs), **(options[0] if options else {}))
    assert message in str(caught.value)
    assert f"mine, {__file__}:{body.__code__.co_firstlineno}" in str(caught.value)


def doubled_from(x, by=0.0):
    return 2 * x + by


def cubes(dy, x: Array):
    return 3 * x**2 * dy  # right where it is taken, of a function that is not linear


def doubled(dy, x: Array, by=0.0):
    return 2 * dy


def halved(dy, x: Array, by=0.0):
    return 2 * dy - 1e-3 * dy


def test_what_is_no_linear_function_is_caught(rule):
    rule.linear(cube)(cubes)
    with pytest.raises(CheckError, match="the function is not linear in argument 1"):
        check_rrule(cube, X)


def test_an_option_that_shifts_a_linear_function_has_to_be_named(rule):
    rule.linear(doubled_from)(doubled)
    check_rrule(doubled_from, X)
    with pytest.raises(CheckError, match="the function is not linear in argument 1"):
        check_rrule(doubled_from, X, by=3.0)
    rule.unregister()
    rule.rules.clear()
    rule.register()
    rule.linear(doubled_from, shifts=("by",))(doubled)
    check_rrule(doubled_from, X, by=3.0)


def test_a_wrong_adjoint_is_caught(rule):
    rule.linear(doubled_from)(halved)
    with pytest.raises(CheckError, match="argument 1: along a random direction"):
        check_rrule(doubled_from, X)


def multiplied(x, by=1.0):
    return x * by


def test_an_option_that_is_named_as_a_shift_and_is_none(rule):
    rule.linear(multiplied, shifts=("by",))(lambda dy, x, by=1.0: dy * by)
    check_rrule(multiplied, X)
    with pytest.raises(CheckError, match=r"argument 1: the function of a random tangent gives"):
        check_rrule(multiplied, X, by=2.0)


def test_linear_rules_that_are_right(rule):
    rule.linear(cube)(lambda dy, x: None)  # no gradient

    @rule.linear(plus)
    def _(dy, x: Array, y: Array):
        return dy, dy.copy()

    for xs in [(X, X + 1), (X, V), (X + 1j, X), (X.astype(np.float32), V), (X > 0, X)]:
        check_rrule(plus, *xs)


def test_a_wrong_field_of_an_object_is_caught(rule):
    rule.of_instances(wrong_field)
    with pytest.raises(CheckError, match=r"self.offset: along a random direction"):
        check_rrule(Line(0.3, 0.4), 0.7)


def test_a_rule_that_nobody_has(rule):
    with pytest.raises(
        CheckError, match=r"no rule answers for .*cube of \(float\) with the options n"
    ):
        check_rrule(cube, 0.3, n=2)


def test_the_rule_meant_is_the_rule_that_fires(rule):
    rule(cube)(right_cube)
    assert check_rrule(cube, X, check_plugin="mine").body is right_cube
    with pytest.raises(CheckError, match="it answers instead of a rule of theirs"):
        check_rrule(cube, X, check_plugin="theirs")


def right_cube(x: Array):
    return x**3, lambda dy: (3 * x**2 * dy,)


def test_a_scalar_rule_with_a_wrong_partial(rule):
    rule.scalar(cube)(lambda x: 3 * x)
    rule.scalar(scaled)(lambda x, y: (y, y))
    for x in (0.3, np.float32(0.3), X, 0.3 + 1j):
        with pytest.raises(CheckError, match=r"argument 1.*: along a random direction"):
            check_rrule(cube, x)
        with pytest.raises(CheckError, match=r"argument 2.*: along a random direction"):
            check_rrule(scaled, x, 2 * x)


def test_a_constant_that_passes_no_cotangent(rule):
    rule.constant(np.random.RandomState(3).permutation, shuffled)
    assert check_rrule(shuffled, 5).kind == "constant"


def shuffled(n):
    return np.random.permutation(n)


def declare_right(rule):
    rule.scalar(cube)(lambda x: 3 * x**2)
    rule.scalar(scaled)(lambda x, y: (y, x))
    rule.scalar(exponential)(lambda x, out: out)
    rule.scalar(holomorphic, poles=False)(lambda z: 2 * z)

    @rule(total)
    def _(x: Array, axis: object = None):
        def pullback(dy):
            dy = dy if axis is None else np.expand_dims(dy, axis)
            return (project(np.broadcast_to(dy, x.shape), x),)

        return np.sum(x, axis), pullback

    @rule(sums)
    def _(xs: list | tuple):
        def pullback(dy):
            return (project([2 * xs[0] * dy, 3.0 * dy], xs),)

        return sums(xs), pullback

    @rule(product)
    def _(d: dict):
        def pullback(dy):
            return ({"a": dy * d["b"], "b": dy * d["a"]},)

        return d["a"] * d["b"], pullback

    @rule(take)
    def _(x: Array, i: object):
        def pullback(dy):
            dx = np.zeros_like(x)
            np.add.at(dx, i, dy)
            return dx, None

        return x[i], pullback

    @rule(halves)
    def _(x: Array):
        def pullback(dys):
            n = len(x) // 2
            parts = zip(dys, (x[:n], x[n:]), strict=True)
            return (np.concatenate([np.zeros_like(p) if d is None else d for d, p in parts]),)

        return halves(x), pullback

    @rule(takes_a_row)
    def _(x: Numeric, keep: bool):
        return x * keep, lambda dy: (project(dy * keep, x), None)

    @rule(repeated)
    def _(f: object, x: Numeric, *, n: int = 1, ad):
        backs = []
        for _ in range(n):
            x, back = ad(f, x)
            backs.append(back)

        def pullback(dy):
            for back in reversed(backs):
                dy = back(dy)[1]
            return None, dy

        return x, pullback

    @rule.of_instances
    def _(line: Line, x: float):
        return line(x), lambda dy: (Tangent(Line, slope=dy * x, offset=dy), dy * line.slope)


def repeated(f, x, *, n=1):
    for _ in range(n):
        x = f(x)
    return x


def without_a_rule(x):
    return x / (1 + x * x)


RIGHT = {
    "float": (cube, 0.3),
    "int": (cube, 3),
    "int array": (cube, np.array([1, 2, 3])),
    "complex": (cube, 0.3 - 0.8j),
    "float16": (cube, np.float16(0.3)),
    "float32": (cube, X.astype(np.float32)),
    "complex64": (cube, (X + 1j).astype(np.complex64)),
    "0-d": (cube, np.array(0.3)),
    "empty": (cube, np.zeros((0, 3))),
    "NumPy scalar": (cube, np.float64(0.3)),
    "strided": (cube, X[:, ::-2]),
    "Fortran-ordered": (cube, np.asfortranarray(X)),
    "broadcast": (scaled, X, V),
    "broadcast number": (scaled, 0.3, V),
    "broadcast column": (scaled, X, X[:, :1]),
    "mixed precision": (scaled, X.astype(np.float32), V),
    "mixed complex": (scaled, X, V + 1j),
    "int and float": (scaled, 3, V),
    "output": (exponential, X),
    "holomorphic": (holomorphic, X + 1j),
    "option": (total, X),
    "option given": (total, X, 1),
    "list": (sums, [0.3, 0.4]),
    "tuple": (sums, (0.3, 0.4)),
    "list of arrays": (sums, [V, V + 1]),
    "dict": (product, {"a": 0.3, "b": np.float64(0.4)}),
    "repeated index": (take, V, np.array([0, 2, 0])),
    "index": (take, V, 1),
    "slice": (take, V, slice(None, None, 2)),
    "tuple result": (halves, LONG),
    "bool": (takes_a_row, X, True),
    "function": (repeated, cube, 0.3),
    "function without a rule": (repeated, without_a_rule, 0.3),
    "object": (Line(0.3, 0.4), 0.7),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_passes(rule, name):
    declare_right(rule)
    f, *xs = RIGHT[name]
    kept = copy.deepcopy(xs)
    assert check_rrule(f, *xs) in rule.rules
    assert repr(xs) == repr(kept)


Two = collections.namedtuple("Two", "double square")


class Both(collections.namedtuple("Both", "once twice")):
    """A named tuple that computes its fields."""

    __slots__ = ()

    def __new__(cls, x):
        return super().__new__(cls, x, 2.0 * x)


def both(x):
    return Both(x)


def times(pair):
    return pair.once * pair.twice


def into_both(x: Array):
    def pullback(dy):
        once, twice = (0 * x if d is None else d for d in dy)
        return (once + 2.0 * twice,)

    return both(x), pullback


def out_of_both(pair: Both):
    def pullback(dy):
        return (tuple.__new__(Both, (dy * pair.twice, dy * pair.once)),)

    return times(pair), pullback


def out_of_both_swapped(pair: Both):
    def pullback(dy):
        return (tuple.__new__(Both, (dy * pair.once, dy * pair.twice)),)

    return times(pair), pullback


@pytest.mark.parametrize(("f", "x"), [(both, V), (times, Both(V)), (times, Both(1.5))])
def test_a_named_tuple_with_a_new_of_its_own(rule, f, x):
    rule(both)(into_both)
    rule(times)(out_of_both)
    assert check_rrule(f, x) in rule.rules


@pytest.mark.parametrize("x", [Both(V), Both(1.5)])
def test_a_wrong_rule_of_a_named_tuple_with_a_new_of_its_own(rule, x):
    rule(times)(out_of_both_swapped)
    with pytest.raises(CheckError, match=r"argument 1\.once.*: along a random direction"):
        check_rrule(times, x)


def two(x):
    return Two(2 * x, x * x)


def two_in_a_dict(x):
    return {"double": 2 * x, "rest": [x * x, None, "text"]}


def nothing(x):
    return None


def itself(x):
    return x


def flat(x):
    return x.reshape(-1)


def into_two(x: Array):
    def pullback(dy):
        given = [0 * x if d is None else d for d in dy]
        return (2 * given[0] + 2 * x * given[1],)

    return two(x), pullback


def into_a_dict(x: float):
    def pullback(dy):
        (square, *_), double = dy.get("rest") or [None], dy.get("double")
        return (2.0 * (double or 0.0) + 2 * x * (square or 0.0),)

    return two_in_a_dict(x), pullback


def rows_of_one_array(x: Array, y: Array):
    def pullback(dy):
        both = np.stack([dy * y, dy * x])
        return both[0], both[1]

    return x * y, pullback


UNUSUAL = {
    "named tuple": (two, into_two, X),
    "dict": (two_in_a_dict, into_a_dict, 0.3),
    "no value": (nothing, lambda x: (None, lambda dy: (None,)), 0.3),
    "the argument": (itself, lambda x: (x, lambda dy: (dy,)), X),
    "a view": (flat, lambda x: (x.reshape(-1), lambda dy: (dy.reshape(x.shape),)), X),
    "parts of one array": (scaled, rows_of_one_array, X, X + 1),
    "broadcast": (total, lambda x: (np.sum(x), lambda dy: (np.broadcast_to(dy, x.shape),)), X),
    "large value": (far, lambda x: (far(x), lambda dy: (1.0 * dy,)), X),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_rule_that_is_right_passes(rule, name):
    f, body, *xs = UNUSUAL[name]
    if not body.__annotations__:
        body.__annotations__ = {"x": type(xs[0])}
    rule(f)(body)
    check_rrule(f, *xs)


def test_right_rules_with_options_pass(rule):
    declare_right(rule)
    assert check_rrule(total, X, axis=0).kind == "general"
    assert check_rrule(repeated, cube, 0.7, n=2).needs_ad
    assert check_rrule(repeated, without_a_rule, V, n=2).needs_ad


def test_directions_may_be_chosen(rule):
    @rule(lower_product)
    def _(x: Array):
        return np.sum(np.tril(x) ** 2), lambda dy: (dy * (x + x * np.eye(3)),)

    symmetric = X.T @ X
    check_rrule(lower_product, symmetric, check_direction=lambda v: None if v is None else v + v.T)
    with pytest.raises(CheckError):
        check_rrule(lower_product, symmetric)


def lower_product(x):
    return np.sum(np.tril(x) ** 2)


def test_the_tolerance_may_be_chosen(rule):
    rule(cube)(lambda x: (x**3, lambda dy: (3.001 * x**2 * dy,)))
    with pytest.raises(CheckError):
        check_rrule(cube, X)
    check_rrule(cube, X, check_tolerance=1e-2)


def test_the_check_leaves_the_global_random_state_alone(rule):
    declare_right(rule)
    rule.constant(shuffled)
    np.random.seed(3)
    random.seed(3)
    before = np.random.get_state(legacy=False), random.getstate()
    check_rrule(scaled, X, V)
    after = np.random.get_state(legacy=False), random.getstate()
    np.testing.assert_equal(after, before)


def test_the_check_is_the_same_every_time(rule):
    rule(cube)(wrong_factor)
    messages = set()
    for _ in range(2):
        with pytest.raises(CheckError) as caught:
            check_rrule(cube, X)
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_the_tester_does_not_import_pytest():
    code = "import sys, rulescore.testing; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def shifted(generator, location):
    return location + generator.normal(size=3)


def shifted_by_global_numbers(location):
    return location + np.random.normal(size=3)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_random_generators_are_held_fixed(new_ruleset, kind, factor):
    rule = new_ruleset()

    @rule(shifted)
    def _(generator: np.random.Generator | np.random.RandomState, location: float):
        def pullback(dy):
            return None, float(np.sum(dy)) * factor

        return shifted(generator, location), pullback

    rule.register()
    generator = kind(5)
    if factor == 1.0:
        check_rrule(shifted, generator, 0.7)
    else:
        with pytest.raises(CheckError, match="argument 2: along a random direction"):
            check_rrule(shifted, generator, 0.7)
    assert generator.normal() == kind(5).normal()


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_global_random_numbers_are_held_fixed(new_ruleset, factor):
    rule = new_ruleset()

    @rule(shifted_by_global_numbers)
    def _(location: float):
        def pullback(dy):
            return (float(np.sum(dy)) * factor,)

        return shifted_by_global_numbers(location), pullback

    rule.register()
    np.random.seed(5)
    if factor == 1.0:
        check_rrule(shifted_by_global_numbers, 0.7)
    else:
        with pytest.raises(CheckError, match="along a random direction"):
            check_rrule(shifted_by_global_numbers, 0.7)
    after = np.random.normal()
    np.random.seed(5)
    assert after == np.random.normal()
