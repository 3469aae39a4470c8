"""Sums over batches, as far as they need no cluster; `tests/distributed` runs them on some."""

import math
import pickle
import sys

import numpy as np
import pytest

from zygote_lite._interface.clusters import pieces_of
from zygote_lite.distributed import _Sum, sum_of_gradients, value_and_grad


def test_a_sum_is_pickled_without_the_future_that_its_client_holds():
    found = _Sum(math.sin, None, False, 2, in_flight=5, of_rows=True, mean=True)
    found.known = object(), b"packed", lambda: None  # which nothing can pickle
    other = pickle.loads(pickle.dumps(found))
    assert vars(other) == {**vars(found), "known": (None, b"", None)}


@pytest.mark.parametrize("verb", [sum_of_gradients, value_and_grad])
def test_what_sums_gradients_is_pickled(verb):
    """A process of joblib, say, is given it; it was a function inside of another."""
    summed = verb(math.sin, workers=2)
    other = pickle.loads(pickle.dumps(summed))
    assert other.func is summed.func
    assert vars(other.args[0]) == vars(summed.args[0])


def test_batches_are_what_is_walked_over_and_no_array():
    assert [*pieces_of(([1, 2], iter("ab")))] == [(1, "a"), (2, "b")]
    with pytest.raises(ValueError, match="different numbers of batches"):
        [*pieces_of(([1, 2], iter("a")))]
    for other in (np.ones(2), {"a": 1}, "text", 3.0):
        with pytest.raises(TypeError, match=f"not {type(other).__name__}; make chunks of an array"):
            pieces_of((other,))


@pytest.mark.parametrize("missing", ["distributed", "dask"])
def test_without_dask_it_says_what_to_install(missing, monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] in ("dask", "distributed")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    told = r"not installed here: run `pip install \"zygote_lite\[distributed\]\"`$"
    for run in (sum_of_gradients(math.sin), lambda w, xs: value_and_grad(math.sin)(w, *xs)):
        with pytest.raises(ModuleNotFoundError, match=told):
            run(2.0, [np.ones(3)])


def with_rng(w, x, rng):
    return w * x * rng.normal()


def with_default(w, x, rng=None):
    return w * x


def of_two(w, x, y):
    return w * x * y


def test_options_below_one_are_refused():
    """No workers hung, or meant one for each core."""
    for given in (0, -1, 1.5, "2"):
        for option in ("workers", "in_flight"):
            for verb in (sum_of_gradients, value_and_grad):
                with pytest.raises(ValueError, match=rf"`{option}` is .*1 or more.* \[ZL042\]$"):
                    verb(math.sin, **{option: given})


@pytest.fixture
def no_cluster(monkeypatch):
    """Refuse what is asked for before a cluster would start."""
    monkeypatch.setattr("zygote_lite.distributed.client_of", lambda *_: pytest.fail("a cluster"))


def test_data_by_name_are_refused(no_cluster):
    for call in (
        lambda: value_and_grad(of_two)(1.0, [1.0], y=[2.0]),
        lambda: sum_of_gradients(of_two)(1.0, [1.0], y=[2.0]),
    ):
        with pytest.raises(TypeError, match=r"`y=` is given by name.* by position.*partial.*42\]$"):
            call()


def test_a_seed_and_a_loss_go_together(no_cluster):
    pytest.importorskip("dask")
    for verb in (sum_of_gradients, value_and_grad):
        with pytest.raises(TypeError, match=r"with_rng takes `rng`.* with `seed=`.* \[ZL042\]$"):
            verb(with_rng)(1.0, [1.0])
        with pytest.raises(TypeError, match=r"pow has no parameter `rng`.* \[ZL042\]$"):
            verb(math.pow)(1.0, [1.0], seed=1)


@pytest.mark.parametrize(
    ("loss", "seed"),
    [(with_rng, 1), (with_default, None), (with_default, 1), (np.multiply, None), (of_two, None)],
)
def test_what_fits_reaches_the_workers(monkeypatch, loss, seed):
    """Also `of_two` of one argument, where Python's own error is clear."""
    pytest.importorskip("dask")
    reached = KeyError("a cluster")

    def stop(*_):
        raise reached

    monkeypatch.setattr("zygote_lite.distributed.client_of", stop)
    with pytest.raises(KeyError, match="a cluster"):
        sum_of_gradients(loss)(1.0, [1.0], seed=seed)
