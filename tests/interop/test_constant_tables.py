"""Data of pandas as constants of transformed code: what is taken of it is read at each call."""

import operator

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import NoRuleError, export_adjoint, hessian, jvp, testing, value_and_grad
from zygote_lite._activity import walk

pd = pytest.importorskip("pandas")

BASE = np.array([1.0, 2.0, 3.0])


def made(**columns):
    return pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.2, 0.1], "n": [1, 2, 3]} | columns)


df = made(g=["u", "v", "u"])
series = pd.Series(BASE.copy())


class Model:
    def __init__(self, data):
        self.data = data

    def loss(self, w):
        return np.sum((self.data["a"].to_numpy() - w * self.data["b"].to_numpy()) ** 2)


MODEL = Model(df)


def column(w):
    return np.sum(df["a"].to_numpy() * w) + np.mean((df.b.values - w) ** 2) + MODEL.loss(w)


def rows_and_masks(w):
    chosen = df.loc[df["b"] > 0.15, "a"].to_numpy()
    return np.sum(w * chosen) * df.iloc[0, 1] + np.sum(df.iloc[0:2, 0].values ** w)


def numbers(w):
    size = len(df) + df.shape[0] + len(df.columns) + df["n"].sum()
    return w * size + w**2 * df["a"].mean() + w * df.a.std() - float(df["a"].max()) / w


def matrix(w):
    x = df[["a", "b"]].to_numpy()
    return np.sum((x @ np.array([w, w * w])) ** 2) + np.sum(np.log(df["a"]).to_numpy() * w)


def questions(w):
    if df is None or df.empty or not isinstance(df, pd.DataFrame):
        return 0.0 * w
    return w * np.sum((df["g"] == "u").to_numpy()) + np.sum(np.asarray(df["a"] - df["b"]) * w)


def in_loops(w):
    for name in ("a", "b"):
        w = w * np.sum(df[name].to_numpy())
    for i in range(len(df)):
        w = w + df["a"].to_numpy()[i] * w + series.iloc[1] * w
    return w


def given(w, data):
    return np.mean((data["a"].to_numpy() * w - data["b"].to_numpy()) ** 2) * len(data)


@pytest.mark.parametrize(
    "f", [column, rows_and_masks, numbers, matrix, questions, in_loops], ids=lambda f: f.__name__
)
def test_tables_from_outside(f):
    with testing.transformed_only():
        y, d = value_and_grad(f)(0.7)
    ((_, want, _),) = slopes(f, (0.7,))
    assert y == f(0.7)
    np.testing.assert_allclose(d, want, rtol=1e-6)
    with testing.compared():
        for w in (0.7, 0.7, 1.3):
            value_and_grad(f)(w)


def test_a_table_as_an_argument_and_others_of_its_place():
    with testing.transformed_only():
        value_and_grad(given)(0.7, made())
    others = [
        made(),
        made(a=[1, 2, 3]),
        made(a=[4.0, 5.0, 6.0]),
        made().head(2),
    ]
    with testing.compared():
        for other in others * 2:
            value_and_grad(given)(0.7, other)

    class Sub(pd.DataFrame):
        def __getitem__(self, key):
            return super().__getitem__("b")

    other = Sub(made())
    for _ in range(4):
        _, d = value_and_grad(given)(0.7, other)
    ((_, want, _),) = slopes(lambda w: given(w, other), (0.7,))
    np.testing.assert_allclose(d, want, rtol=1e-6)


def test_tables_that_change_between_calls():
    data = made()

    def f(w):
        return np.sum(data["a"].to_numpy() * w) + w * len(data) + w * data["b"].max()

    with testing.compared():
        for _ in range(3):
            value_and_grad(f)(0.7)
        data.loc[0, "a"] = 10.0
        assert value_and_grad(f)(0.7)[1] == 15.0 + 3 + 0.5
        data["a"] = [1, 2, 3]
        value_and_grad(f)(0.7)
        data["b"] = [1.0, np.nan, 7.0]
        value_and_grad(f)(0.7)
        data = data.drop(index=2)
        assert value_and_grad(f)(0.7)[1] == 3.0 + 2 + 1.0
        data = data.drop(columns="b")
        with pytest.raises(KeyError):
            value_and_grad(f)(0.7)


def test_objects_in_tables_are_asked_by_the_tape():
    told = []

    class Number:
        def __radd__(self, other):
            told.append(other)
            return 1.0

    data = pd.DataFrame({"a": [1.0, 2.0]})

    def f(w):
        return data["a"].sum() * w

    for _ in range(4):
        value_and_grad(f)(0.7)
    data["a"] = pd.Series([0, Number()], dtype=object)
    for count in (1, 2):
        value_and_grad(f)(0.7)
        assert len(told) == count
    assert testing.why_recorded(f, 0.7)


@pytest.fixture
def in_doubt(monkeypatch):
    """As beside many imported libraries: searches through all that code names give up."""
    monkeypatch.setattr(walk, "LIMIT", 50)
    monkeypatch.setattr(walk, "FOR_ERRORS", 100)


def written(x, take):
    x[0] = x[1] * 2.0
    return np.sum(x) * take()


TAKEN = {
    "to_numpy": lambda data: np.sum(data["a"].to_numpy()),
    "sum": lambda data: data["a"].sum(),
    "iloc": lambda data: data.iloc[0, 0],
    "float": lambda data: float(data["a"].iloc[0]),
}


@pytest.mark.parametrize("take", TAKEN.values(), ids=TAKEN)
def test_a_table_beside_an_array_that_is_written(take):
    data = pd.DataFrame({"a": BASE.copy()})
    for _ in range(4):
        y, d = value_and_grad(written)(BASE.copy(), lambda: take(data))
        want = take(data)
        assert y == 9.0 * want
        np.testing.assert_allclose(d, [0.0, 3.0 * want, want])


def test_a_table_beside_an_array_that_is_written_where_a_search_gives_up(in_doubt):
    test_a_table_beside_an_array_that_is_written(TAKEN["to_numpy"])


@pytest.fixture
def without_doubt(monkeypatch):
    """As beside few imported libraries: what code names is searched to the end."""
    monkeypatch.setattr(walk, "FOR_ERRORS", 2_000_000)


@pytest.mark.parametrize("take", TAKEN.values(), ids=TAKEN)
def test_memory_that_a_table_shares_with_what_is_written(take, without_doubt):
    """What is taken of it depends on what was written: its memory is in fields of C."""
    for _ in range(4):
        x = BASE.copy()
        data = pd.DataFrame({"a": x}, copy=False)
        with pytest.raises(NoRuleError, match="data of pandas carries no gradient"):
            value_and_grad(written)(x, lambda: take(data))


def test_tables_that_are_returned_or_changed_inside():
    def returns(w):
        return np.sum(df["a"].to_numpy() * w), df

    def changes(w):
        data = df.copy()
        data["c"] = 2.0
        return np.sum(data["c"].to_numpy() * w)

    for _ in range(4):
        assert value_and_grad(returns, has_aux=True)(0.7)[0][1] is df
        assert value_and_grad(changes)(0.7)[1] == 6.0


def puts(data, w):
    data["a"] = w


def assigns(data, w):
    data.a = w


def deletes(data, w):
    del data["b"]


def adds(data, w):
    data["a"] += 1.0


@pytest.mark.parametrize("change", [puts, assigns, deletes, adds], ids=lambda f: f.__name__)
def test_changes_inside_happen_once(change):
    def f(w, data):
        before = np.sum(data["a"].to_numpy() * w)
        change(data, 3.0)
        return before + np.sum(data["a"].to_numpy() * w) * data.shape[1]

    for _ in range(4):
        data, same = made(), made()
        assert value_and_grad(f)(0.7, data)[0] == pytest.approx(f(0.7, same))
        assert data.equals(same)


def test_other_verbs():
    assert jvp(column, (0.7,), (1.0,))[1] == pytest.approx(value_and_grad(column)(0.7)[1])
    assert hessian(column)(0.7) == pytest.approx(2.0 * np.sum(df["b"] ** 2) + 2.0)
    space = {}
    exec(export_adjoint(column, 0.7), space)
    assert space["column_value_and_gradient"](0.7)[0] == column(0.7)


@pytest.mark.parametrize("take", [operator.mul, operator.sub, operator.matmul])
def test_memory_that_an_operand_shares_with_what_is_written(take, without_doubt):
    def f(x, data):
        x[0] = x[1] * 2.0
        return np.sum(take(data["a"], x))

    for _ in range(4):
        x = BASE.copy()
        with pytest.raises(NoRuleError, match="data of pandas carries no gradient"):
            value_and_grad(f, argnums=0)(x, pd.DataFrame({"a": x}, copy=False))
        apart = pd.DataFrame({"a": BASE.copy()})
        _, d = value_and_grad(f, argnums=0)(BASE.copy(), apart)
        ((_, want, _),) = slopes(lambda x, apart=apart: f(x.copy(), apart), (BASE.copy(),))
        np.testing.assert_allclose(d, want, rtol=1e-6)
