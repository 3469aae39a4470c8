"""Series and DataFrames of pandas: data in arithmetic; refused, with what helps, elsewhere."""

import operator
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from zygote_lite import (
    DifferentiationError,
    GradientCheckError,
    NoRuleError,
    check_gradient,
    export_adjoint,
    grad,
    gradient,
    hessian,
    jacobian,
    jvp,
    pullback,
    ravel,
    stop_gradient,
    testing,
    value_and_grad,
    vmap,
)

pd = pytest.importorskip("pandas", reason="pandas is not here: `nox -s interop` installs it")
X = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
W = np.array([0.3, 0.4, 0.5])
S, TABLE = pd.Series([1.0, 2.0, 3.0]), pd.DataFrame(X)
TURNED = pd.Series([1.0, 2.0, 3.0], index=[2, 1, 0])
GAPS = pd.Series([1.0, np.nan, 3.0])


class Own(pd.Series):
    pass


class Kept:
    def __init__(self, series):
        self.series = series

    def total(self):
        return (self.series**2).sum()


def in_a_list(w):
    found = [w[i] * S for i in range(2)]
    return sum(x.sum() for x in found) + found[0].mean()


def written_later(w):
    data = S.copy()
    y = w * data
    data.iloc[0] = 100.0
    return y.sum()


def added_in_place(w):
    y = w * S
    also = y
    y += 1.0
    return (y * also).sum()


def into_an_array(w):
    y = np.zeros(3)
    np.add(w, S, out=y)
    y[1:] = (w * S).iloc[1:]
    return np.sum(y**2)


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
    "concatenate": lambda w: np.sum(np.concatenate([w, S]) ** 2 * np.arange(6.0)),
    "where": lambda w: np.sum(np.where(S > 1.5, w**2, 0.0)),
    "a number of it": lambda w: np.sum(w) * S.mean() * S.iloc[1],
}
DATA |= {
    "w * s": lambda w: np.sum(w * S),
    "s * w": lambda w: (S * w**2).sum(),
    "exp(w) - s": lambda w: np.mean((np.exp(w) - S) ** 2),
    "multiply": lambda w: np.sum(np.multiply(w, S) ** 2),
    "a ufunc of SciPy": lambda w: expit(w * S).sum(),
    "of parameters": lambda w: ((S - (w[0] * S + w[1])) ** 2).mean(),
    "methods": lambda w: S.mul(w).add(1.0).rsub(2.0).dot(w),
    "table @ w": lambda w: np.sum((TABLE @ w) ** 2),
    "w @ table": lambda w: ((w @ TABLE.T) ** 2).sum(),
    "table * w": lambda w: ((TABLE * w)[1] ** 2).sum() + (TABLE * w).sum(axis=1)[0] ** 2,
    "of columns": lambda w: ((TABLE * w - (TABLE * w).mean()) ** 2).sum().sum(),
    "std, var": lambda w: (w * S).std() + (w * S).var(ddof=0) + np.std(w * S),
    "clip by name": lambda w: (w * S).clip(upper=0.5).sum() + (w * S).clip(lower=0.3).sum(),
    "dtype by name": lambda w: (w * S).astype(dtype=float).sum(),
    "of each": lambda w: np.maximum(-(w * S), abs(w * S - 1.0)).clip(0.1, 0.9).sum(),
    "chosen": lambda w: ((w * S)[S > 1.5] ** 2).sum() + (w * S).iloc[0] * (w * S).loc[1],
    "by what is computed": lambda w: (lambda y: (y[y > 0.5] ** 2).sum())(w * S),
    "walked": lambda w: sum(x * x * y for x, y in zip(w * S, w, strict=True)) + max(w * S),
    "asked": lambda w: w[0] * len(w * S) * (w * S > 0.5).sum() if (w * S > 0).all() else w[0],
    "arrays": lambda w: np.sum((w * S).to_numpy() ** 2 * (w * S).values) + np.asarray(w * S)[1],
    "joined": lambda w: np.sum(np.concatenate([w * S, w]) ** 2),
    "shown": lambda w: (f"{w * S}", repr(w * S), (w * S).sum())[2],
    "in an object": lambda w: Kept(w * S).total(),
    "in a list": in_a_list,
    "into an array": into_an_array,
    "captured": lambda w: (lambda y: (lambda: (y * y).sum())())(w * S),
    "gaps": lambda w: np.sum((w * GAPS).to_numpy()[[0, 2]] ** 2),
    "quantile": lambda w: np.quantile(w * S, 0.3) + np.sum(np.sort(w * S)[:2]) ** 2,
    "single precision": lambda w: float((w * S.astype(np.float32) ** 2).sum()),
    "einsum": lambda w: np.einsum("i,i", w, S) * np.einsum("i,i->i", w * S, w).sum(),
    "third of where": lambda w: np.sum(np.where(w > 0.35, 0.0, w * S) * np.where(w > 0.1, w, S)),
    "third of interp": lambda w: np.sum(np.interp([0.4, 0.7], S / 3, w * S)),
    "fft": lambda w: np.sum(np.abs(np.fft.fft(w * S)[:2]) ** 2) * np.abs(np.fft.rfft(w * S)[1]),
    "without gaps": lambda w: (w * S).fillna(7.0).sum() * (w * S).dropna().max(),
    "skipna": lambda w: (w * S).sum(skipna=False) * (w * S).mean(skipna=True),
    "new labels": lambda w: ((w * S).reset_index(drop=True) ** 2).sum(),
    "dropped": lambda w: (w * S).drop(1).sum() + ((w * S).to_frame() ** 2).sum().iloc[0],
    "asked of each": lambda w: (w * S)[(w * S).between(0.5, 1.0) | S.isin([1.0])].sum(),
}
REFUSED = {
    "Series(w)": lambda w: pd.Series(w).sum(),
    "objects": lambda w: w @ S.astype(object),
    "w * objects": lambda w: (w * S.astype(object)).sum(),
    "nullable": lambda w: (w * S.astype("Float64")).sum(),
    "nullable * w": lambda w: (S.astype("Float64") * w).sum(),
    "objects - w": lambda w: (S.astype(object) - w).sum(),
    "divmod": lambda w: divmod(w * S, 2.0)[1].sum(),
    "divmod of a number": lambda w: divmod(7.0, w * S)[1].sum(),
    "other labels": lambda w: ((w * S) * TURNED).sum(),
    "other columns": lambda w: (TABLE * w[0] * TURNED).sum().sum(),
    "gaps left out": lambda w: (w * GAPS).sum(),
    "in place": added_in_place,
    "of a constant, in place": lambda w: operator.iadd(S.copy(), w).sum(),
    "groupby": lambda w: (w * S).groupby([0, 0, 1]).sum().iloc[0],
    "apply": lambda w: (w * S).apply(lambda x: x * x).sum(),
    "label that is not there": lambda w: (w * S).reindex([0, 7]).sum(),
    "concat": lambda w: pd.concat([w * S, S]).sum(),
    "fillna": lambda w: (w * GAPS).fillna(0.0).sum(),
    "labels as a column": lambda w: (w * S).reset_index().sum().sum(),
    "reindexed by its values": lambda w: (w * S[::-1]).sort_values().iloc[0],
    "columns of two precisions": lambda w: (TABLE.astype({0: "f4"}) * w[0]).sum().sum(),
    "apply of a table": lambda w: TABLE.apply(lambda c: (c * w[:2]).sum()).sum(),
    "map": lambda w: S.map(lambda x: x * w[0]).sum(),
    "agg": lambda w: (w * S).agg("sum"),
    "third argument": lambda w: np.sum(np.clip(w, 0.0, w * S)),
    "a subclass": lambda w: (w * Own(S)).sum(),
}
OF_TABLES = {  # methods that docs/howto/dataframes.md says are not followed
    "where": (S > 1.5, 0.0), "mask": (S > 1.5, 0.0), "shift": (1,), "diff": (), "rolling": (2,),
    "expanding": (), "ewm": (0.5,), "nlargest": (2,), "sort_values": (), "quantile": (0.5,),
    "corr": (S,), "cov": (S,), "describe": (), "combine_first": (S,), "agg": ("sum",),
    "transform": (np.exp,), "apply": (np.exp,), "map": (np.exp,), "groupby": ([0, 0, 1],),
}  # fmt: skip
REFUSED |= {name: lambda w, name=name: getattr(w * S, name)(*OF_TABLES[name]) for name in OF_TABLES}
TO_NUMPY = r"of pandas.* pass `.to_numpy\(\)` of it"
HELPS = {
    "in place": "write `t = t [+] y`",
    "of a constant, in place": "write `t = t [+] y`",
    "divmod": "write `x // y` and `x % y`",
    "divmod of a number": "write `x // y` and `x % y`",
    "a subclass": "declare a rule for this type",
    "Series(w)": "a Series of pandas .* compute with the array itself, by NumPy",
}
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
        y, d = value_and_grad(DATA[name])(W)
        assert type(y) is type(DATA[name](W))
        assert y == pytest.approx(DATA[name](W), rel=1e-14)
        np.testing.assert_allclose(d, want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_followed_is_refused(name):
    for _ in range(2):
        with pytest.raises(DifferentiationError, match=HELPS.get(name, TO_NUMPY)):
            grad(REFUSED[name])(W)


@pytest.mark.parametrize("name", ACTIVE)
def test_a_series_is_not_differentiated(name):
    for _ in range(2):
        with pytest.raises(DifferentiationError, match=r"pass `.to_numpy\(\)` of it"):
            grad(ACTIVE[name])(S)


class Model:
    def __init__(self, table, w):
        self.table, self.w = table, w

    def loss(self):
        return np.mean((self.table["a"] * self.w - self.table.b) ** 2) + self.table.a.std()

    def __call__(self, w):
        return (self.table["a"] * w - self.table.loc[:, "b"]).pow(2).mean()


COLUMNS = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, 2.5, 1.5]})
A, B = COLUMNS.a.to_numpy(), COLUMNS.b.to_numpy()
HOLDING = {  # a function of something that holds data and `W`, and how to find the gradient
    "an object": (Model.loss, Model(COLUMNS, W), lambda d: (d.table, d.w)),
    "a dict": (
        lambda p: (p["t"]["a"] * p.get("w") - p["t"].b).pow(2).mean(),
        {"t": COLUMNS, "w": W}, lambda d: (d["t"], d["w"]),
    ),
    "a tuple": (lambda p: ((p[0].a * p[1] - p[0].b) ** 2).mean(), (COLUMNS, W), lambda d: d),
    "groups, in a list": (
        lambda p: ((p[0].a.sum() * p[1] - B) ** 2).mean(),
        [COLUMNS.groupby("a"), W], lambda d: d,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDING)
def test_data_within_what_is_differentiated_is_constant(name):
    f, holder, parts = HOLDING[name]
    want = None, 2 * A * (A * W - B) / 3
    for _ in range(3):
        for found in (
            gradient(f, holder)[0],
            grad(f)(holder),
            pullback(f, holder)[1](1.0)[1],
        ):
            of_data, of_w = parts(found)
            assert of_data is want[0]
            np.testing.assert_allclose(of_w, want[1])


def test_other_derivatives_by_what_holds_data():
    p = {"t": COLUMNS, "w": W}
    for _ in range(3):
        rows = jacobian(lambda p: p["t"]["a"].to_numpy() * p["w"] ** 2)(p)
        assert rows["t"] is None
        np.testing.assert_allclose(rows["w"], np.diag(2 * A * W))
        second = hessian(lambda p: ((p["t"]["a"] * p["w"]) ** 2).sum())(p)
        np.testing.assert_allclose(second["w"]["w"], np.diag(2 * A**2))
        _, dy = jvp(lambda p: (p["t"].b * p["w"]).sum(), (p,), ({"t": None, "w": W},))
        np.testing.assert_allclose(dy, B @ W)


def test_a_function_that_holds_data_has_no_gradient_by_it():
    model, table, slope = Model(COLUMNS, 0.5), COLUMNS, 1.0
    for _ in range(3):
        of_model, dw = pullback(model, W)[1](1.0)
        assert of_model is None or of_model.table is None
        np.testing.assert_allclose(dw, 2 * A * (A * W - B) / 3)
        of_f, dw = pullback(lambda w: np.sum(w * slope * table["a"]), W)[1](1.0)
        assert (of_f.table, of_f.slope) == (None, np.sum(W * A))
        np.testing.assert_allclose(dw, A)


def test_a_column_of_single_precision_beside_a_number():
    single = S.astype(np.float32)
    for f in (
        lambda w: (single * w[0]).sum(),
        lambda w: ((w[0] * single + w[1]) ** 2).mean(),
        lambda w: np.exp(single / w[2]).sum(),
        lambda w: (TABLE.astype(np.float32) * w[0]).sum().sum(),
    ):
        for _ in range(3):
            y, d = value_and_grad(f)(W)
            assert (type(y), y) == (np.float32, f(W))
            np.testing.assert_allclose(d, slopes(lambda w: float(f(w)), W), rtol=2e-3, atol=2e-3)


def test_the_page_lists_what_is_refused():
    page = (Path(__file__).parents[2] / "docs/howto/dataframes.md").read_text("utf-8")
    listed = page.split("These methods of differentiated data")[1].split("\n\n")[0]
    assert {*OF_TABLES} <= {*re.findall(r"`(\w+)`", listed)}


def test_errors_of_data_say_what_helps():
    with pytest.raises((DifferentiationError, TypeError), match=r"pass `.to_numpy\(\)` of it"):
        grad(lambda w: np.sum(np.clip(w, 0.0, w * S)))(W)


def test_data_may_change_after_it_was_used():
    for _ in range(4):
        np.testing.assert_allclose(grad(written_later)(W), S)


def loss(w):
    return ((S - np.exp(w * S)) ** 2).sum()


def plain(w):
    return ((S.to_numpy() - np.exp(w * S.to_numpy())) ** 2).sum()


def test_other_derivatives_with_data():
    np.testing.assert_allclose(hessian(loss)(W), hessian(plain)(W))
    np.testing.assert_allclose(jvp(loss, (W,), (W,)), jvp(plain, (W,), (W,)))
    np.testing.assert_allclose(vmap(grad(loss))(np.stack([W, 2 * W]))[1], grad(plain)(2 * W))
    with testing.compared():
        for w in (W, W, 2 * W):
            np.testing.assert_allclose(grad(loss)(w), grad(plain)(w))
    captured = grad(lambda w: (lambda y: np.sum(grad(lambda v: (v * v * y).sum())(w)))(w * S))(W)
    np.testing.assert_allclose(captured, 4 * W * S)


def test_a_series_that_is_returned():
    (_, y), d = value_and_grad(lambda w: (np.sum(w**2), w * S), has_aux=True)(W)
    pd.testing.assert_series_equal(y, W * S)
    np.testing.assert_allclose(d, 2 * W)
    np.testing.assert_allclose(grad(lambda w: (y * w).sum())(W), y)  # it is data again
    y.iloc[0] = 7.0
    np.testing.assert_allclose(grad(lambda w: (y * w).sum())(W), [7.0, 0.8, 1.5])
    for verb in (
        lambda: grad(lambda x: x.sum())(y),
        lambda: jacobian(lambda w: w * S)(W),
        lambda: jvp(lambda w: w * S, (W,), (W,)),
        lambda: pullback(lambda w: w * S, W)[1](np.ones(3)),
        lambda: grad(lambda w: np.sum(grad(lambda x: (x * x).sum())(w * S)))(W),
    ):
        with pytest.raises((DifferentiationError, TypeError), match=r"ZL\d+\]$"):
            verb()
    np.testing.assert_allclose(grad(lambda w: (stop_gradient(w * S) * w).sum())(W), W * S)


def test_derivatives_of_products_with_data():
    twice = grad(lambda w: np.sum(grad(lambda v: (v @ S) ** 3)(w)))(W)
    np.testing.assert_allclose(twice, 6 * (W @ S) * S.sum() * S)


def stored(kind, x):
    """Return a table in which a column is stored in one of the ways of pandas."""
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    if kind == "item":
        table["a"] = x
    elif kind == "loc":
        table.loc[:, "a"] = x
    elif kind == "iloc":
        table.iloc[:, 0] = x
    elif kind == "insert":
        table.insert(0, "c", x)
    else:
        return table.assign(a=x)
    return table


MADE = {  # a call of pandas, its name in the message, and what to do with `stop_gradient(w)`
    "Index": (lambda w: pd.Index(w).to_numpy(), "pandas.Index", "make it of"),
    "array": (lambda w: pd.array(w).to_numpy(), "pandas.array", "call this with"),
    "to_numeric": (lambda w: pd.to_numeric(w), "pandas.to_numeric", "call this with"),
    "cut": (lambda w: pd.cut(w, 2, labels=False), "pandas.cut", "call this with"),
    "qcut": (lambda w: pd.qcut(w, 2, labels=False), "pandas.qcut", "call this with"),
    "to_datetime": (
        lambda w: pd.to_datetime(w).year.to_numpy(), "pandas.to_datetime", "call this with",
    ),
    "isna": (lambda w: pd.isna(w), "pandas.isna", "call this with"),
    "unique": (lambda w: pd.unique(w), "pandas.unique", "call this with"),
    "factorize": (lambda w: pd.factorize(w)[0], "pandas.factorize", "call this with"),
    "get_dummies": (
        lambda w: pd.get_dummies(w).to_numpy()[0], "pandas.get_dummies", "call this with",
    ),
    "d['a'] =": (lambda w: stored("item", w).a.to_numpy(), "pandas.DataFrame.__setitem__", "store"),
    "d.loc =": (lambda w: stored("loc", w).a.to_numpy(), "`x[i] = y` of pandas", "store"),
    "d.iloc =": (lambda w: stored("iloc", w).a.to_numpy(), "`x[i] = y` of pandas", "store"),
    "insert": (lambda w: stored("insert", w).c.to_numpy(), "pandas.DataFrame.insert", "store"),
    "assign": (lambda w: stored("assign", w).a.to_numpy(), "pandas.DataFrame.assign", "store"),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_what_pandas_makes_of_active_values_is_told_with_what_helps(name):
    of, called, instead = MADE[name]
    for _ in range(3):
        with pytest.raises(NoRuleError, match=r"\[ZL006\]$") as refused:
            grad(lambda w: np.sum(of(w) * w))(W)
        said = str(refused.value)
        assert f": {called} has no rule, and a gradient passes through it: " in said
        assert f"compute with the array itself, by NumPy; or {instead} `stop_gradient(...)`" in said
        assert not re.search(r"\._l|core|to_numpy", said)
    for _ in range(3):  # as told: it counts as constant
        found = grad(lambda w: np.sum(of(stop_gradient(w)) * w))(W)
        np.testing.assert_allclose(found, np.asarray(of(W), float))


LIMIT = 1.5
TEXTS = {
    "eval": lambda w: stored("item", W).eval("a * @w").sum(),
    "eval of a constant": lambda w: stored("item", W).eval("a * @LIMIT").sum() * w[0],
    "query": lambda w: stored("item", W).query("b > @LIMIT").b.sum() * w[0],
    "query by name": lambda w: stored("item", W).query(expr="b > @LIMIT").b.sum() * w[0],
    "pd.eval": lambda w: pd.eval("w * 2").sum(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_with_variables_of_the_caller_is_refused(name):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match=r"names variables of its caller.*\[ZL014\]"):
            grad(TEXTS[name])(W)


def test_what_a_text_with_variables_is_replaced_by():
    table = stored("item", W)
    one = grad(lambda w: np.sum(table["a"].to_numpy() * w))(W)
    np.testing.assert_allclose(one, W)
    two = grad(lambda w: table[table["b"] > LIMIT].b.sum() * w[0])(W)
    np.testing.assert_allclose(two, [15.0, 0.0, 0.0])
    three = grad(lambda w: table.query("a > 0.35").b.sum() * w[0])(W)  # no variable
    np.testing.assert_allclose(three, [11.0, 0.0, 0.0])


@pytest.mark.parametrize("x", [S, TABLE], ids=["series", "table"])
def test_other_verbs_tell_of_pandas_too(x):
    with pytest.raises(GradientCheckError, match=TO_NUMPY):
        check_gradient(lambda s: np.sum(s**2), x)
    with pytest.raises(DifferentiationError, match=rf"as a module of its own: data {TO_NUMPY}"):
        export_adjoint(lambda s: np.sum(s**2), x)
    for tree in (x, {"a": x, "b": 2.0}, [[x]]):
        with pytest.raises(NoRuleError, match=TO_NUMPY):
            ravel(tree)
    v, _ = ravel({"a": x, "b": 2.0}, frozen=["a"])
    assert v.tolist() == [2.0]
    check_gradient(lambda s: np.sum(s**2), x.to_numpy())
    assert ravel(x.to_numpy())[0].size == x.size


def test_counts_and_texts_of_pandas_are_no_part_of_a_vector():
    v, back = ravel({"w": 2.0, "counts": pd.Series([1, 2]), "names": pd.Series(["a", "b"])})
    assert v.tolist() == [2.0]
    assert back(np.array([3.0]))["counts"].tolist() == [1, 2]


def test_a_method_of_a_private_class_has_the_name_of_the_public_one():
    with pytest.raises(
        NoRuleError, match=r"\.py:\d+: pandas\.Timedelta\.total_seconds has no rule"
    ):
        grad(lambda w: pd.Timedelta(w[0], "s").total_seconds())(W)
