"""The cluster examples and their benchmark, on two processes, against the same in this one."""

from importlib import import_module

import numpy as np
import pytest

from zygote_lite import value_and_grad
from zygote_lite._interface.clusters import client_of

pytest.importorskip(
    "distributed", reason="dask.distributed is not here: `nox -s distributed` installs it"
)
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def client():
    return client_of(None, True, 2)


def example(name):
    return import_module(f"examples.{name}")  # the workers import it by this name, too


def test_moons_has_the_losses_of_one_process(client):
    moons = example("cluster_moons")
    points, label = moons.two_moons(210, 0.15, np.random.default_rng(0))
    target = np.eye(2)[label]
    model, losses = moons.by_cluster(
        client, points, target, epochs=8, rows=110
    )  # the second has 100
    alone, expected = moons.train(value_and_grad(moons.loss), points, target, epochs=8)
    np.testing.assert_allclose(losses, expected, rtol=1e-9)
    np.testing.assert_allclose(model.layers[0].W, alone.layers[0].W, rtol=1e-7)
    assert losses[-1] < 0.9 * losses[0]


def test_the_sweep_has_the_losses_of_one_process(client):
    sweep = example("cluster_sweep")
    grid = [(0.003, 0.0, 4), (0.03, 0.0, 8), (0.03, 0.1, 8)]
    losses = sweep.by_cluster(client, grid, steps=30)
    np.testing.assert_allclose(losses, [sweep.trained(one, 30) for one in grid], rtol=1e-9)
    assert len({*losses}) == 3


def test_the_bootstrap_has_hessians_by_their_formula(client):
    bootstrap = example("cluster_bootstrap")
    data = x, y = bootstrap.counts(300)
    weights, hessians = bootstrap.by_cluster(client, data, samples=30)
    for seed in (0, 29):
        w, h = bootstrap.resampled(seed, data)
        np.testing.assert_allclose(weights[seed], w, rtol=1e-9)
        np.testing.assert_allclose(hessians[seed], h, rtol=1e-9)
        rows = np.random.default_rng([seed, 1]).integers(300, size=300)
        rate = np.exp(x[rows] @ w)
        np.testing.assert_allclose(hessians[seed], (x[rows].T * rate) @ x[rows], rtol=1e-9)
        np.testing.assert_allclose(x[rows].T @ (rate - y[rows]), 0, atol=1e-8)
    _, h = bootstrap.fitted(*data)
    promised = np.sqrt(np.diag(np.linalg.inv(h)))
    np.testing.assert_allclose(weights.std(axis=0, ddof=1), promised, rtol=0.5)


def test_the_benchmark_compares_equal_gradients(client):
    bench = import_module("benchmarks.several_processes")
    w = np.eye(bench.WIDTH)
    two = bench.distributed.sum_of_gradients(bench.loss, client=client)
    batches = bench.batches_of(layers=2, rows=3, count=4)
    runs = {"loop": (bench.in_a_loop, bench.process_time), "two": (two, lambda: 0.0)}
    times = bench.least(runs, w, batches, rounds=1)
    assert times["loop"][1] > times["two"][1] == 0.0
    assert bench.of_workers(client) > 0.0
    wrong = {"wrong": (lambda w, batches: (0.0, 2 * two(w, batches)[1]), bench.process_time)}
    with pytest.raises(AssertionError, match="Not equal"):
        bench.least(wrong, w, batches, rounds=1)


def test_where_the_benchmark_says_that_two_processes_pay():
    pays_from = import_module("benchmarks.several_processes").pays_from
    assert pays_from({0.001: 0.5, 0.1: 1.5}) == pytest.approx(0.01)
    assert pays_from({0.1: 1.5, 0.01: 1.2, 0.001: 0.2}) == pytest.approx(0.001 * 10**0.8)
    assert pays_from({0.1: 1.5, 0.01: 1.2}) == 0.01
    assert pays_from({0.1: 0.9, 0.01: 0.2}) is None
