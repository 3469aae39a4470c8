"""Functions that are declared to have no gradient, and that change what they are given, or keep it.

The code that is simply run is not seen by the engine: so it must notice what the call has done.
"""

import numpy as np
import pytest

from rulescore import RuleSet, non_differentiable
from zygote_lite import DifferentiationError, grad, gradient, hessian, jvp, linearize, testing

X = np.array([1.0, 2.0])
CALLS = 4


@non_differentiable
def bump(y):
    y[0] = 5.0


@non_differentiable
def bump_item(items):
    items[0] = 7.0


@non_differentiable
def bump_part(pair):
    pair[0][0] = 7.0


@non_differentiable
def bump_field(o):
    o.a = 7.0


@non_differentiable
def shorten(items):
    items.pop()


@non_differentiable
def fill(buffer, x):
    buffer[:] = x


@non_differentiable
def bump_and_raise(y):
    y[0] = 5.0
    raise ValueError


@non_differentiable
def first(items):
    return items[0]


@non_differentiable
def itself(x):
    return x


@non_differentiable
def paired(x):
    return [x, x[0]]


@non_differentiable
def keep(holder, x):
    holder.a = x


@non_differentiable
def shown(*xs, **named):
    print(xs, named)


@non_differentiable
def noted(notes, x):
    notes.append(float(x[0]))


def bumped_by_a_set(y):
    y[0] = 5.0


rule = RuleSet("constants that write")
rule.constant(bumped_by_a_set)
rule.register()


class Holder:
    a = None


def after_a_use(x):
    y = x * 1.0
    s = np.sum(y * y)
    bump(y)
    return s


def before_a_use(x):
    y = x * 1.0
    bump(y)
    return np.sum(y * y)


def by_a_rule_set(x):
    y = x * 1.0
    bumped_by_a_set(y)
    return np.sum(y * y)


def by_name(x):
    y = x * 1.0
    bump(y=y)
    return np.sum(y * y)


def a_view(x):
    y = x * 1.0
    bump(y[::-1])
    return np.sum(y * y)


def an_array_in_a_tuple(x):
    y = x * 1.0
    bump_part((y, 1.0))
    return np.sum(y * y)


def an_item(x):
    items = [x[0], x[0] * 2]
    bump_item(items)
    return items[0] * items[1]


def a_length(x):
    items = [x[0], x[1]]
    shorten(items)
    return sum(items)


def a_field(x):
    o = Holder()
    o.a, o.b = x[0], x[0] * 2
    bump_field(o)
    return o.a * o.b


def a_constant_that_was_read(x):
    buffer = np.ones(2)
    s = np.sum(x * buffer)
    fill(buffer, x)
    return s


def before_an_error(x):
    y = x * 1.0
    try:
        bump_and_raise(y)
    except ValueError:
        pass
    return np.sum(y * y)


def on_a_branch(x):
    y = x * 1.0
    if x[0] > 0.5:
        bump(y)
    return np.sum(y * y)


class Shared:
    a = None


shared = Shared()


@non_differentiable
def bump_shared():
    shared.a[0] = 5.0


def by_a_global_variable(x):
    shared.a = x * 1.0
    bump_shared()
    return np.sum(shared.a**2)


CHANGING = [after_a_use, before_a_use, by_a_rule_set, by_name, a_view, an_array_in_a_tuple, an_item,
            a_length, a_field, before_an_error, on_a_branch, by_a_global_variable]  # fmt: skip


def an_alias_from_a_list(x):
    items = [x * 1.0]
    y = first(items)
    y[0] = 5.0
    return np.sum(items[0] ** 2)


def an_alias(x):
    y = x * 1.0
    z = itself(y)
    z[0] = 5.0
    return np.sum(y**2)


def an_alias_in_a_list(x):
    y = x * 1.0
    pair = paired(y)
    pair[0][1] = 3.0
    return np.sum(y * y * pair[1])


def an_alias_by_another_function(x):
    y = x * 1.0
    z = itself(y)[:1]
    np.multiply(z, 2.0, out=z)
    return np.sum(y**2)


def an_alias_that_is_put_back(x):
    y = x * 1.0
    z = itself(y)
    before = z[0]
    z[0] = 5.0
    s = np.sum(y**2)
    z[0] = before
    return s


def the_array_of_an_alias(x):
    y = x * 1.0
    z = itself(y)
    y[0] = x[1]
    return np.sum(z * x)


def an_alias_of_what_was_written(x):
    y = x * 1.0
    y[0] = x[1]
    return np.sum(itself(y) * x)


def the_list_itself(x):
    return np.sum(itself([x * 1.0])[0] * x)


def an_alias_that_is_kept(x):
    y, holder = x * 1.0, Holder()
    keep(holder, y)
    holder.a[0] = 5.0
    return np.sum(y**2)


RETURNING = [an_alias_from_a_list, an_alias, an_alias_in_a_list, an_alias_by_another_function,
             an_alias_that_is_put_back, the_array_of_an_alias, an_alias_of_what_was_written,
             the_list_itself, an_alias_that_is_kept]  # fmt: skip
TOLD = (
    r"test_constants_that_write.py:\d+: .*(bump|shorten|first|itself|paired|keep).* is declared to "
    r"have no gradient \(.*test_constants_that_write.py:\d+\), and .*copy.* \[ZL017\]$"
)
WAYS = {
    "grad": lambda f: grad(f)(X),
    "jvp": lambda f: jvp(f, (X,), (np.array([1.0, 0.0]),)),
    "linearize": lambda f: linearize(f, X)[1](np.array([1.0, 0.0])),
    "in a gradient": lambda f: grad(lambda x: np.sum(grad(f)(x)))(X),
    "hessian": lambda f: hessian(f)(X),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", CHANGING + RETURNING, ids=lambda f: f.__name__)
def test_a_constant_that_writes_or_shares_what_is_written_is_refused(f, way):
    for _ in range(CALLS):
        with pytest.raises(DifferentiationError, match=TOLD):
            WAYS[way](f)
    with testing.recorded_only(), pytest.raises(DifferentiationError, match=TOLD):
        WAYS[way](f)


def test_what_a_pullback_has_read_is_not_changed_without_an_error():
    for _ in range(CALLS):
        with pytest.raises(DifferentiationError, match=r"fill is declared .* or reads: "):
            grad(a_constant_that_was_read)(X)


def into_a_buffer(x):
    buffer = np.ones(2)
    fill(buffer, x)
    return np.sum(x * buffer)


def by_an_alias(x):
    y = x * 1.0
    return np.sum(itself(y) * y) + np.sum(paired(y)[0] * y) + np.sum(first((y,)) * y)


def told(x):
    notes = []
    shown(x, [x, {"a": x}], notes, k=x)
    noted(notes, x)
    shown(notes)
    return np.sum(x * notes[0])


@pytest.mark.parametrize(
    ("f", "slope"), [(into_a_buffer, X), (by_an_alias, 3 * X), (told, X[[0, 0]])],
    ids=lambda f: getattr(f, "__name__", ""),
)  # fmt: skip
def test_what_is_not_differentiated_may_change_and_an_alias_may_be_read(f, slope):
    for _ in range(CALLS):
        np.testing.assert_array_equal(grad(f)(X), slope)
        assert jvp(f, (X,), (np.array([1.0, 0.0]),))[1] == slope[0]
    with testing.recorded_only():
        np.testing.assert_array_equal(grad(f)(X), slope)


class Model:
    def __init__(self, w):
        self.w, self.name, self.mask = w, "", None


@non_differentiable
def named(model):
    model.name, model.mask = "seen", model.w > 1.5


def test_what_has_no_gradient_may_change_in_an_object_that_has_one():
    def f(model):
        named(model)
        return np.sum(model.w**2 * model.mask)

    for _ in range(CALLS):
        np.testing.assert_array_equal(gradient(f, Model(X))[0].w, [0.0, 4.0])
