"""Arrays of other libraries, as dask's: operators, methods and attributes go by the rules."""

import functools
import operator

import numpy as np
import pytest

from zygote_lite import DifferentiationError, NoRuleError, grad

da = pytest.importorskip("dask.array", reason="dask of requirements.txt is missing")
X = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])


def walked(x):
    total = 0.0
    for i, row in enumerate(x):
        total = total + (row**2).sum() * (i + 1)
    return total


def unpacked(x):
    a, b = x
    return (a * b).sum()


def in_place(x):
    y = x * 1.0
    y += x
    y *= x
    return y.sum()


def by_branch(x):
    return 2 * x.sum() if x.any() and x.sum() > 0 else x.mean()


def in_containers(x):
    named, listed = {"a": x}, [x, 2 * x]
    return (named["a"] * listed[1]).sum()


FOLLOWED = {
    "operators": lambda x: (2 / x - abs(x) ** 2 + -x).sum(),
    "operators by name": lambda x: (x.__mul__(x) + x.__rsub__(2.0)).sum(),
    "products": lambda x: np.tanh(x @ x.T).sum() + x.dot(np.ones(3)).sum(),
    "methods": lambda x: x.reshape(-1).std() + x.ravel().mean() + (x.copy().flatten() ** 2).sum(),
    "astype": lambda x: (x.astype(np.float32).conj() ** 2).sum(),
    "attributes": lambda x: (x.T * 2).real.sum() * x.shape[0] * x.ndim / x.size,
    "subscripts": lambda x: (x[:, 1:] - x[:, :-1]).sum() * x[0, 1],
    "constant methods": lambda x: x[0, 1] * int(x.argmax()),
    "where": lambda x: np.where(x > 0, x, 0.1 * x).sum(),
    "order statistics": lambda x: np.median(x, axis=1).sum() + np.quantile(x, 0.3, axis=1).sum(),
    "decompositions": lambda x: np.linalg.cholesky(x @ x.T + np.eye(2))[0, 0] * 1.0,
    "joined": lambda x: (np.block([[x], [2 * x]]) ** 2).sum() + np.stack([r**2 for r in x]).sum(),
    "sum of rows": lambda x: (sum(x) ** 2).sum() + sum((a * b).sum() for a, b in zip(x, x)),
    "lists": lambda x: (list(x)[-1] * tuple(x)[1]).sum(),
    "functions of operators": lambda x: operator.attrgetter("T")(x).sum() * x.max(),
    "folds": lambda x: functools.reduce(lambda a, b: a * b, x).sum(),
    "walked": walked,
    "unpacked": unpacked,
    "in place": in_place,
    "branches": by_branch,
    "containers": in_containers,
}


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FOLLOWED)
def test_dask_arrays_are_differentiated(name):
    f = FOLLOWED[name]
    for _ in range(2):
        dx = grad(f)(da.from_array(X, chunks=(1, 3)))
        assert isinstance(dx, da.Array)
        np.testing.assert_allclose(dx.compute(), grad(f)(X))


def test_what_tells_of_the_array_is_constant():
    dx = grad(lambda x: x.sum() * x.npartitions * len(x.chunks))(da.from_array(X, chunks=(1, 3)))
    np.testing.assert_array_equal(dx.compute(), np.full((2, 3), 4.0))


def written(x):
    y = x * 1.0
    y[0] = 2.0
    return y.sum()


REFUSED = {
    "rechunk": lambda x: x.rechunk((1, 1)).sum(),
    "map_blocks": lambda x: x.map_blocks(np.sin).sum(),
    "vindex": lambda x: x.vindex[[0, 1], [1, 1]].sum(),
    "blocks": lambda x: x.blocks[0, 0].sum(),
    "compute": lambda x: x.compute().sum(),
    "split_every": lambda x: x.sum(split_every=2),
    "setitem": written,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_dask_has_is_refused_by_name(name):
    """The cotangent of what `x.vindex[...]` gives was lost: the gradient was `None`."""
    with pytest.raises(DifferentiationError, match=name):
        grad(REFUSED[name])(da.from_array(X, chunks=(1, 3)))


OF_UNKNOWN_LENGTH = {
    "a mask": lambda x: np.sum(x[x > 0] ** 2),
    "a mean": lambda x: np.mean(x[x > 0]),
    "an extract": lambda x: np.sum(np.extract(x > 0, x)),
}


@pytest.mark.parametrize("name", OF_UNKNOWN_LENGTH)
def test_a_shape_that_dask_does_not_know_is_refused_with_what_helps(name):
    """The error was that a rule had given a cotangent of the wrong shape."""
    words = r"test_foreign\.py:\d+: .*dask.*shape is not known.*`np\.where"
    for _ in range(3):
        with pytest.raises(NoRuleError, match=words):
            grad(OF_UNKNOWN_LENGTH[name])(da.from_array(X, chunks=(1, 3)))


def test_what_helps_where_dask_does_not_know_a_shape():
    x = da.from_array(X, chunks=(1, 3))
    dx = grad(lambda x: np.sum(np.where(x > 0, x, 0.0) ** 2))(x)
    np.testing.assert_allclose(dx.compute(), 2 * X * (X > 0))


@pytest.mark.filterwarnings("ignore:The `numpy.interp` function:FutureWarning")
def test_a_function_that_the_library_lacks_is_told_with_the_line():
    x = da.from_array(X, chunks=(1, 3))
    told = r"test_foreign\.py:\d+: the pullback of numpy\.interp failed for arrays of dask: .*; use"
    with pytest.raises(NoRuleError, match=told):
        grad(lambda x: np.sum(np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 4.0])))(x)
    with pytest.raises(NotImplementedError, match="only works along an axis"):  # dask's own error
        grad(np.median)(x)


def test_a_rule_of_ones_own_is_for_a_method_too():
    from rulescore import Array, RuleSet

    rule = RuleSet("for_dask")

    @rule(da.Array.rechunk)
    def _(x: Array, chunks: object):
        def pullback(dy):
            return dy, None

        return x.rechunk(chunks), pullback

    rule.register()
    try:
        dx = grad(lambda x: (x.rechunk((1, 1)) ** 2).sum())(da.from_array(X, chunks=(1, 3)))
        np.testing.assert_allclose(dx.compute(), 2 * X)
    finally:
        rule.unregister()
