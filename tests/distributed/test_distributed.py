"""Gradients summed over batches by dask.distributed, against the gradient in one piece."""

import contextlib
import sys
import traceback
import tracemalloc
import warnings

import numpy as np
import pytest

import zygote_lite
from tests.distributed import losses
from zygote_lite._interface import clusters, gradients
from zygote_lite.distributed import sum_of_gradients, value_and_grad

distributed = pytest.importorskip(
    "distributed", reason="dask.distributed is not here: `nox -s distributed` installs it"
)
da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.filterwarnings("default")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(100, 3)), np.sign(RNG.normal(size=100))
PARAMS = {"w": np.array([0.3, -1.0, 0.5]), "b": 0.2}
WHOLE = zygote_lite.value_and_grad(losses.logistic)(PARAMS, (X, Y))
THREADS = {"processes": False, "workers": 2}
PROCESSES = {"workers": 2}


def rows(size):
    return [(X[i : i + size], Y[i : i + size]) for i in range(0, len(X), size)]


def is_whole(found, scale=1.0):
    value, slope = WHOLE
    np.testing.assert_allclose(found[0], value * scale, rtol=1e-12)
    np.testing.assert_allclose(found[1]["w"], slope["w"] * scale, rtol=1e-12)
    np.testing.assert_allclose(found[1]["b"], slope["b"] * scale, rtol=1e-12)


@pytest.fixture(params=[PROCESSES, THREADS], ids=["processes", "threads"])
def where(request):
    return request.param


def test_chunks_give_the_gradient_in_one_piece(where):
    step = value_and_grad(losses.logistic_of, **where)
    x, y = da.from_array(X, chunks=(15, 3)), da.from_array(Y, chunks=15)
    for _ in range(3):  # from the third call on, transformed code answers
        is_whole(step(PARAMS, x, y))
    mean = value_and_grad(losses.mean_logistic, reduce="mean", **where)
    is_whole(mean(PARAMS, x, y), 1 / len(X))
    is_whole(mean(PARAMS, [X[:60], X[60:60], X[60:]], [Y[:60], Y[60:60], Y[60:]]), 1 / len(X))


def test_lists_generators_delayed_and_collections_inside_of_batches(where):
    total = sum_of_gradients(losses.logistic, **where)
    is_whole(total(PARAMS, rows(7)))
    is_whole(total(PARAMS, (batch for batch in rows(1))))
    is_whole(total(PARAMS, [dask.delayed(tuple)(batch) for batch in rows(30)]))
    x, y = da.from_array(X, chunks=(15, 3)), da.from_array(Y, chunks=15)
    is_whole(total(PARAMS, [(x[:50], y[:50]), (X[50:], y[50:])]))


def test_futures_and_a_cluster_of_the_users_by_address():
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address=":0", protocol="tcp://"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        total = sum_of_gradients(losses.logistic, client=client)
        futures = client.scatter(rows(20))
        is_whole(total(PARAMS, futures))
        is_whole(total(PARAMS, futures))
        halves = [(client.submit(np.array, X[:50]), Y[:50]), (X[50:], Y[50:])]
        is_whole(total(PARAMS, halves))
        x, y = client.persist([da.from_array(X, chunks=(50, 3)), da.from_array(Y, chunks=50)])
        is_whole(value_and_grad(losses.logistic_of, client=client)(PARAMS, x, y))
        address = cluster.scheduler_address
        is_whole(sum_of_gradients(losses.logistic, client=address)(PARAMS, rows(9)))
        (known,) = [key for key in clusters.LOCAL if key[0] == address]
        clusters.LOCAL.pop(known).close()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_is_killed_does_not_change_the_gradient(workers, tmp_path):
    batches = [(float(i), str(tmp_path) if i == 17 else None) for i in range(30)]
    params = np.array([1.0, -2.0])
    value, slope = sum_of_gradients(losses.kills, in_flight=16, workers=workers)(params, batches)
    assert (tmp_path / "killed").exists()
    assert value == 5.0 * sum(range(30))
    np.testing.assert_array_equal(slope, 2 * params * sum(range(30)))


def test_few_batches_are_on_their_way():
    most, started = 0, 0
    losses.DONE.clear()

    def batches():
        nonlocal started, most
        for i in range(60):
            started += 1
            most = max(most, started - len(losses.DONE))
            yield float(i)

    value, slope = sum_of_gradients(losses.counted, in_flight=6, **THREADS)(2.0, batches())
    assert (value, slope) == (2.0 * sum(range(60)), sum(range(60)))
    assert len(losses.DONE) == 60
    assert 3 <= most <= 6


@contextlib.contextmanager
def own_client():
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address=":0", threads_per_worker=2
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield {"client": client}


@pytest.mark.parametrize(
    "made",
    [
        own_client,
        lambda: contextlib.nullcontext(PROCESSES),
        lambda: contextlib.nullcontext(THREADS),
    ],
    ids=["a client of the user's", "processes", "threads"],
)
def test_memory_of_the_client_is_independent_of_the_number_of_batches(made):
    size, most = 40_000, []
    with made() as where:
        total = sum_of_gradients(losses.sums, in_flight=4, **where)
        for count in (8, 80):
            tracemalloc.start()
            try:
                total(2.0, (np.ones(size) for _ in range(count)))
                most.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
    assert most[1] < most[0] + 20 * 8 * size  # of 72 more batches


@pytest.mark.skipif(sys.platform != "linux", reason="the variable is one of glibc")
def test_workers_get_large_arrays_from_memory_that_they_have_had():
    """Dask's `MALLOC_TRIM_THRESHOLD_` would have the system clear that of each array anew."""
    _, slope = sum_of_gradients(losses.faults, **PROCESSES)(1.0, [300] * 4)
    assert slope < 4 * 300 * 10  # of 192 pages each


def test_seeds_belong_to_the_batches(where):
    step = sum_of_gradients(losses.noisy, **where)
    w, xs = np.array([1.0, 2.0]), [1.0, 2.0, 3.0, 4.0]
    draws = [np.random.default_rng(s).normal(size=2) for s in np.random.SeedSequence(5).spawn(4)]
    due = sum(x * draw for x, draw in zip(xs, draws, strict=True))
    for _ in range(3):
        value, slope = step(w, xs, seed=5)
        np.testing.assert_allclose(slope, due, rtol=1e-14)
        np.testing.assert_allclose(value, due @ w, rtol=1e-14)
    assert not np.allclose(step(w, xs, seed=(5, 1))[1], due)
    with pytest.raises(TypeError, match="rng"):
        step(w, xs)


def test_errors_have_the_line_of_the_user(where):
    with pytest.raises(ValueError, match="no such batch") as caught:
        sum_of_gradients(losses.fails_at, **where)(np.ones(2), range(6))
    assert "# the user's line" in "".join(traceback.format_exception(caught.value))
    assert "in batch 3 " in caught.value.__notes__[0]


@pytest.mark.parametrize("verb", [sum_of_gradients, value_and_grad])
def test_a_loss_without_a_number_is_told_with_the_line_of_the_call(where, verb):
    for loss, words in ((losses.products, "needs a real number"), (losses.nothing, "None")):
        with pytest.raises(TypeError, match=words) as caught:
            verb(loss, **where)(np.ones(2), [np.ones(2)])
        line = sys._getframe().f_lineno - 1
        assert str(caught.value).startswith(f"{__file__}:{line}: ")
        assert "in batch 0 " in caught.value.__notes__[0]


def test_what_a_loss_writes_stays_in_its_call(where):
    params, batches = {"w": np.array([1.0, 2.0])}, [np.array([1.0, 3.0])] * 2
    for _ in range(3):
        value, slope = sum_of_gradients(losses.writes, **where)(params, batches)
        assert value == 2 * 6.0 * 7.0
        np.testing.assert_array_equal(slope["w"], [12.0, 36.0])
    np.testing.assert_array_equal(params["w"], [1.0, 2.0])
    np.testing.assert_array_equal(batches[0], [1.0, 3.0])


def test_a_buffer_that_the_generator_fills_again(where):
    def batches():
        buffer = np.zeros(2)
        for i in range(20):
            buffer[:] = i
            yield buffer

    value, slope = sum_of_gradients(losses.of_model, **where)(losses.Model(0.1), batches())
    i = np.arange(20.0)
    np.testing.assert_allclose(value, 2 * np.sum(np.sin(0.1 * i)), rtol=1e-12)
    np.testing.assert_allclose(slope.w, 2 * np.sum(i * np.cos(0.1 * i)), rtol=1e-12)


def test_what_a_closure_captures_is_looked_at_in_every_call(where):
    scale = 2.0

    def loss(w, x):
        return scale * w * x

    step = sum_of_gradients(loss, **where)
    assert step(3.0, [1.0, 2.0]) == (18.0, 6.0)
    scale = 5.0
    assert step(3.0, [1.0, 2.0]) == (45.0, 15.0)


def test_precision_is_that_of_the_parameters():
    w = np.ones(2, np.float32)
    batches = [np.ones(2, np.float32)] * 3
    value, slope = sum_of_gradients(losses.of_model, **THREADS)(losses.Model(w), batches)
    assert slope.w.dtype == np.float32
    assert value == pytest.approx(6 * np.sin(1.0), rel=1e-6)


def test_the_loss_is_unpacked_once_on_each_worker(monkeypatch):
    made, make = [], gradients.value_and_grad
    monkeypatch.setattr(gradients, "value_and_grad", lambda f: made.append(f) or make(f))
    step = sum_of_gradients(losses.logistic, **THREADS)
    for _ in range(3):
        is_whole(step(PARAMS, rows(10)))
    assert made == [losses.logistic]


def test_code_is_transformed_once_on_each_worker():
    """Also for new parameters; for batches of another type once more."""
    client = clusters.client_of(None, True, 2)
    client.run(losses.note_transforms)
    step, transforms = sum_of_gradients(losses.of_one, client=client), []
    for batches in ([np.ones(3)] * 20, [np.ones(5)] * 20, [np.ones((2, 2))] * 20):
        for scale in (1.0, 2.0):
            step({"w": scale * np.ones(batches[0].shape[-1]), "b": scale}, batches)
        transforms.append(sorted(client.run(losses.made_here).values()))
    assert transforms == [[["of_one"]] * 2, [["of_one"]] * 2, [["of_one"] * 2] * 2]


REFUSED = [
    (lambda f: f(PARAMS, []), ValueError, r"there are no batches.* \[ZL037\]$"),
    (lambda f: f(PARAMS, X), TypeError, "from_array"),
    (lambda f: f(PARAMS, 3), TypeError, r"not int.* \[ZL037\]$"),
    (lambda f: f(PARAMS, da.ones((4, 4), chunks=2)), ValueError, "rechunk"),
    (lambda f: f(PARAMS, rows(9), seed=-1), ValueError, "non-negative"),
    (lambda f: f({"w": "text", "b": 1.0}, rows(50)), Exception, "in batch|text|matmul|dtype"),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call(sum_of_gradients(losses.logistic, **THREADS))


def test_data_that_do_not_go_together_are_refused():
    step = value_and_grad(losses.logistic_of, **THREADS)
    with pytest.raises(ValueError, match=r"chunks differ.* \[ZL037\]$"):
        step(PARAMS, da.ones((6, 3), chunks=(2, 3)), da.ones(6, chunks=3))
    with pytest.raises(ValueError, match=r"different numbers of rows.* \[ZL037\]"):
        step(PARAMS, [X], [Y[:1]])  # would be broadcast
    with pytest.raises(ValueError, match=r"different numbers of batches.* \[ZL037\]$"):
        step(PARAMS, [X, X], [Y])
    with pytest.raises(TypeError, match=r"no data.* \[ZL037\]$"):
        step(PARAMS)
    with pytest.raises(ValueError, match="median"):
        value_and_grad(losses.logistic_of, reduce="median")
    with pytest.raises(ValueError, match="1 or more"):
        sum_of_gradients(losses.logistic, in_flight=0)
    with pytest.raises(TypeError, match="asynchronous"):
        sum_of_gradients(losses.logistic, client=3)(PARAMS, rows(50))


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_any_number_in_flight(most):
    is_whole(sum_of_gradients(losses.logistic, in_flight=most, **THREADS)(PARAMS, rows(6)))


def test_no_warning_of_large_batches():
    big = [(np.ones((400_000, 3)), np.ones(400_000))] * 2  # 12 MB each
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        value, _ = sum_of_gradients(losses.logistic, **THREADS)(PARAMS, big)
    assert value == pytest.approx(800_000 * np.log1p(np.exp(-(PARAMS["w"].sum() + 0.2))))
