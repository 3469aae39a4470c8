"""Einstein sums against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules_base.numpy import einsum
from rulescore import rrule

EXAMPLES = [pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(einsum.rule.examples)]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


def adjoint_error(subscripts, operands, **options):
    """Return by how much the cotangents fail to be the adjoint of a sum linear in each operand."""
    rng = np.random.default_rng(3)
    y, back = rrule(np.einsum, subscripts, *operands, **options)
    dy = rng.normal(size=np.shape(y)) + 1j * rng.normal(size=np.shape(y))
    worst = 0.0
    for i, (dx, x) in enumerate(zip(back(dy)[2:], operands, strict=True)):
        assert dx.shape == x.shape
        v = rng.normal(size=x.shape) + 1j * rng.normal(size=x.shape)
        forward = np.einsum(subscripts, *operands[:i], v, *operands[i + 1 :], **options)
        left, right = np.vdot(dy, forward), np.vdot(dx, v)
        worst = max(worst, abs(left - right) / (1 + abs(left)))
    return worst


@st.composite
def sums(draw):
    """Draw subscripts and shapes: repeated, summed-out and stretched labels, and ellipses."""
    labels = "abcDe"
    sizes = {c: draw(st.integers(1, 3)) for c in labels}
    batch = [draw(st.integers(1, 3)) for _ in range(2)]
    terms, shapes = [], []
    for _ in range(draw(st.integers(1, 3))):
        term = draw(st.text(labels, max_size=3))
        stretched = [draw(st.booleans()) and term.count(c) == 1 for c in term]
        shape = [1 if s else sizes[c] for c, s in zip(term, stretched, strict=True)]
        if draw(st.booleans()):
            at = draw(st.integers(0, len(term)))
            width = draw(st.integers(0, 2))
            term = term[:at] + "..." + term[at:]
            lengths = batch[2 - width :]
            shape[at:at] = [1 if draw(st.booleans()) else n for n in lengths]
        terms.append(term)
        shapes.append(tuple(shape))
    subscripts = ",".join(terms)
    known = sorted(set(subscripts) - set(",."))
    if draw(st.booleans()):
        result = draw(st.permutations(known))[: draw(st.integers(0, len(known)))]
        subscripts += "->" + ("..." if "..." in subscripts else "") + "".join(result)
    return subscripts, shapes


@settings(max_examples=300, deadline=None)
@given(sums())
def test_any_subscripts(drawn):
    subscripts, shapes = drawn
    rng = np.random.default_rng(5)
    operands = [rng.normal(size=shape) + 1j * rng.normal(size=shape) for shape in shapes]
    assert adjoint_error(subscripts, operands) < 1e-12


@pytest.mark.parametrize(
    "optimize",
    [True, "greedy", "optimal", ("greedy", 1000), ["einsum_path", (0, 2), (0, 1)]],
    ids=str,
)
def test_every_way_to_optimize(optimize):
    rng = np.random.default_rng(5)
    operands = [rng.normal(size=shape) + 0.5j for shape in ((2, 3), (3, 4), (4, 2))]
    assert adjoint_error("ij,jk,kl->il", operands, optimize=optimize) < 1e-12


@pytest.mark.parametrize("subscripts", ["ij,jk->ik", "ij->", "ij,ij->i", "ii,ij->j", "i...->..."])
def test_axes_of_length_zero(subscripts):
    for n in (0, 1):
        operands = [np.ones((0, 0)) if "ii" in subscripts else np.ones((n, 0))]
        operands += [np.ones((0, n)) if ",jk" in subscripts else operands[0]] * ("," in subscripts)
        assert adjoint_error(subscripts, operands) == 0


def test_integers_are_real_numbers_and_truth_values_have_no_gradient():
    mask = np.array([[True, False], [True, True]])
    _, back = rrule(np.einsum, "ij,ij->i", mask, np.array([[1, 2], [3, 4]]))
    _, _, dmask, dx = back(np.array([1.0, 10.0]))
    assert dmask is None
    np.testing.assert_array_equal(dx, [[1.0, 0.0], [10.0, 10.0]])
    assert dx.dtype == np.float64


def test_the_option_out_is_refused():
    with pytest.raises(NotImplementedError, match="out"):
        rrule(np.einsum, "ij->ji", np.ones((2, 2)), out=np.ones((2, 2)))


def test_labels_as_numbers_sort_as_numpy_sorts_them(check):
    # 26 is the first lower-case letter, which comes after the upper-case ones
    check(np.einsum, np.sin(np.arange(6.0)).reshape(2, 3), [26, 3])
