"""The moons demo: it learns, prints what it promises, and says what is missing."""

import os
import subprocess
import sys

import numpy as np
import pytest

from rulescore import Tangent
from tests.examples.conftest import PNG
from zygote_lite import pullback
from zygote_lite.demo import cli as _cli
from zygote_lite.demo import moons as _demo


def run(arguments, capsys):
    status = _cli.main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_demo_reaches_097_on_points_held_out(tmp_path, capsys):
    path = tmp_path / "picture.png"
    status, out, _ = run(["moons", "--epochs", "80", "--out", str(path)], capsys)
    assert status == 0
    assert f"picture: {path}" in out
    assert "80/80" in out
    assert float(out.split("held-out points: ")[1].split()[0]) >= 0.97
    assert path.read_bytes().startswith(PNG)


def test_the_picture_may_go_into_a_directory(tmp_path, capsys):
    status, _, _ = run(["moons", "--epochs", "1", "--out", str(tmp_path)], capsys)
    assert status == 0
    assert (tmp_path / "moons.png").read_bytes().startswith(PNG)


def test_the_seed_fixes_the_result():
    def losses(seed):
        rng = np.random.default_rng(seed)
        X, label = _demo.two_moons(50, 0.1, rng)
        return _demo.train(_demo.make_model(rng), X, label, 3)

    assert losses(0) == losses(0)
    assert losses(0) != losses(1)


def test_the_gradient_of_the_model_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    model = _demo.Chain(*(_demo.Dense(size, np.tanh, rng) for size in [(2, 3), (3, 3), (3, 2)]))
    X = rng.normal(size=(5, 2))

    def f(m):
        return np.sum(m(X) * m(X))

    _, back = pullback(f, model)
    _, dmodel = back(1.0)
    assert isinstance(dmodel, Tangent)
    pairs = list(_demo.arrays_with_gradients(model, dmodel))
    assert [x.shape for x, _ in pairs] == [(2, 3), (3,), (3, 3), (3,), (3, 2), (2,)]
    for x, dx in pairs:
        for i in np.ndindex(x.shape):
            kept = x[i]
            x[i] = kept + 1e-6
            up = f(model)
            x[i] = kept - 1e-6
            down = f(model)
            x[i] = kept
            assert dx[i] == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-7)


def test_adam_takes_a_first_step_of_its_rate_against_the_sign():
    class Model:
        def __init__(self):
            self.a, self.rest = np.zeros(2), [np.zeros(1), "a name"]

    model = Model()
    gradient = Tangent(Model, a=np.array([3.0, -0.1]), rest=[np.array([7.0]), None])
    _demo.Adam(rate=0.5).update(model, gradient)
    np.testing.assert_allclose(model.a, [-0.5, 0.5], rtol=1e-6)
    np.testing.assert_allclose(model.rest[0], [-0.5], rtol=1e-6)


def test_the_moons_are_two_half_circles():
    X, label = _demo.two_moons(200, 0.0, np.random.default_rng(0))
    upper, lower = X[label == 0], X[label == 1]
    assert len(upper) == len(lower) == 100
    np.testing.assert_allclose(np.hypot(*upper.T), 1.0)
    np.testing.assert_allclose(np.hypot(*(lower - [1.0, 0.5]).T), 1.0)
    assert np.all(upper[:, 1] >= 0)
    assert np.all(lower[:, 1] <= 0.5)


def test_missing_matplotlib_is_told_before_training(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    status, out, err = run(["moons"], capsys)
    assert status == 1
    assert 'pip install "zygote_lite[demo]"' in err
    assert "training" not in out


def test_missing_nnlib_is_told(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rules_nnlib", None)
    status, _, err = run(["moons"], capsys)
    assert status == 1
    assert "pip install rules_nnlib" in err


def test_missing_rules_of_numpy_are_told(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "zygote_lite.demo.cli", "moons"],
        env={**os.environ, "RULESCORE_DISABLE": "rules_base"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "pip install rules_base" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_directory_is_told_before_training(tmp_path, capsys):
    status, out, err = run(["moons", "--out", str(tmp_path / "no" / "moons.png")], capsys)
    assert status == 1
    assert "there is no directory" in err
    assert "training" not in out


@pytest.mark.parametrize("arguments", [[], ["suns"], ["moons", "--epochs", "0"]], ids=str)
def test_wrong_arguments_end_with_usage(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        _cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: zygote-lite" in capsys.readouterr().err
