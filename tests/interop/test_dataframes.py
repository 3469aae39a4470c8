"""Series and DataFrames of pandas: data in products, and refused, with what helps, elsewhere."""

import numpy as np
import pytest

from zygote_lite import DifferentiationError, grad

pd = pytest.importorskip("pandas", reason="pandas is not here: `nox -s interop` installs it")
X = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
W = np.array([0.3, 0.4, 0.5])
S, TABLE = pd.Series([1.0, 2.0, 3.0]), pd.DataFrame(X)
DATA = {
    "w @ s": lambda w: w @ S,
    "s @ w": lambda w: S @ w**2,
    "matrix @ s": lambda w: np.sum((np.stack([w, w]) @ S) ** 2),
    "w @ integers": lambda w: w**2 @ S.astype(int),
    "dot(table, w)": lambda w: np.sum(np.dot(TABLE, w) ** 2),
    "dot(table.T, w)": lambda w: np.sum(np.dot(TABLE.T, w[:2]) ** 2),
    "w.dot(s)": lambda w: w.dot(S) ** 2,
    "vdot(s, w)": lambda w: np.vdot(S, w) ** 2,
    "inner(w, s)": lambda w: np.inner(w, S) ** 2,
    "s used twice": lambda w: (w @ S) * np.dot(S, w),
    "to_numpy": lambda w: np.sum((w * S.to_numpy()) ** 2),
    "w[mask]": lambda w: np.sum(w[S > 1.5] ** 2),
    "where": lambda w: np.sum(np.where(S > 1.5, w**2, 0.0)),
    "a number of it": lambda w: np.sum(w) * S.mean() * S.iloc[1],
}
REFUSED = {
    "w * s": lambda w: np.sum(w * S),
    "s * w": lambda w: np.sum(S * w),
    "exp(w) - s": lambda w: np.sum(np.exp(w) - S),
    "multiply": lambda w: np.sum(np.multiply(w, S)),
    "table @ w": lambda w: np.sum(TABLE @ w),
    "w @ table": lambda w: np.sum(w @ TABLE.T),
    "einsum": lambda w: np.einsum("i,i", w, S),
    "Series(w)": lambda w: pd.Series(w).sum(),
    "objects": lambda w: w @ S.astype(object),
}
TO_NUMPY = r"of pandas .* pass `.to_numpy\(\)` of it"
HELPS = {"Series(w)": "a Series of pandas .* compute with the array itself, by NumPy"}
ACTIVE = {
    "x[0] * x[1]": lambda x: x[0] * x[1],
    "sum": lambda x: x.sum(),
    "np.exp": lambda x: np.sum(np.exp(x)),
    "to_numpy": lambda x: np.sum(x.to_numpy() ** 2),
    "asarray": lambda x: np.sum(np.asarray(x) ** 2),
    "dot": lambda x: np.dot(x, W),
}


def slopes(f, w):
    by_steps = [
        (f(w + h * e) - f(w - h * e)) / (2 * h) for h in (1e-3, 5e-4) for e in np.eye(len(w))
    ]
    far, near = np.reshape(by_steps, (2, -1))
    return (4 * near - far) / 3


@pytest.mark.parametrize("name", DATA)
def test_data_of_pandas_is_constant(name):
    want = slopes(DATA[name], W)
    for _ in range(3):
        np.testing.assert_allclose(grad(DATA[name])(W), want, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_what_gives_a_series_is_refused(name):
    for _ in range(2):
        with pytest.raises(DifferentiationError, match=HELPS.get(name, TO_NUMPY)):
            grad(REFUSED[name])(W)


@pytest.mark.parametrize("name", ACTIVE)
def test_a_series_is_not_differentiated(name):
    for _ in range(2):
        with pytest.raises(DifferentiationError, match=r"pass `.to_numpy\(\)` of it"):
            grad(ACTIVE[name])(S)


@pytest.mark.parametrize(
    "f",
    [lambda w: np.sum(np.concatenate([w, S])), lambda w: np.sum(np.interp(w, S, S))],
    ids=["concatenate", "interp"],
)
def test_errors_of_data_say_what_helps(f):
    with pytest.raises((DifferentiationError, TypeError), match=r"pass `.to_numpy\(\)` of it"):
        grad(f)(W)


def test_derivatives_of_products_with_data():
    twice = grad(lambda w: np.sum(grad(lambda v: (v @ S) ** 3)(w)))(W)
    np.testing.assert_allclose(twice, 6 * (W @ S) * S.sum() * S)
