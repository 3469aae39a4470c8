"""The polynomial examples: against gradient descent in plain NumPy, and against least squares."""

import numpy as np
import pytest

from tests.examples.conftest import assert_is_the_picture_of


def reference_descent(coeffs, xs, ys, learning_rate, max_iters):
    """Do gradient descent with the derivative of the mean squared error worked out by hand."""
    powers = np.vander(xs, len(coeffs), increasing=True)
    losses = []
    for _ in range(max_iters):
        error = powers @ coeffs - ys
        losses.append(np.mean(error**2))
        coeffs = coeffs - learning_rate * 2 * powers.T @ error / len(ys)
    return coeffs, losses


def small_problem():
    """Return points in [-1, 1], where gradient descent reaches least squares quickly."""
    rng = np.random.default_rng(3)
    xs = rng.uniform(-1, 1, 20)
    ys = 1.0 - 2.0 * xs + 0.5 * xs**2 + 0.1 * rng.normal(size=20)
    return xs.tolist(), ys.tolist()


@pytest.mark.parametrize("name", ["descend_by_loop", "descend_by_map"])
def test_descent_by_rrule_follows_the_one_worked_out_by_hand(example, name):
    module = example("polynomial_by_rrule")
    xs, ys = module.noisy_points()
    coeffs = module.start()
    expected, expected_losses = reference_descent(coeffs.copy(), xs, ys, 1e-5, 50)
    losses = getattr(module, name)(coeffs, xs, ys, learning_rate=1e-5, max_iters=50)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-10)
    np.testing.assert_allclose(coeffs, expected, rtol=1e-10)
    assert losses[-1] < 0.7 * losses[0]
    assert np.all(np.diff(losses) < 0)


def test_descent_by_pullback_follows_the_one_worked_out_by_hand(example):
    module = example("polynomial_fit")
    xs, ys = module.noisy_points()
    model = module.Polynomial(module.start())
    expected, expected_losses = reference_descent(model.weights.copy(), xs, ys, 1e-5, 50)
    losses = module.gradient_descent(model, module.mse, xs, ys, learning_rate=1e-5, max_iters=50)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-10)
    np.testing.assert_allclose(model.weights, expected, rtol=1e-10)


def test_descent_by_pullback_reaches_least_squares(example):
    module = example("polynomial_fit")
    xs, ys = small_problem()
    model = module.Polynomial(np.zeros(3))
    module.gradient_descent(model, module.mse, xs, ys, learning_rate=0.5, max_iters=400)
    expected = np.polynomial.polynomial.polyfit(xs, ys, 2)
    np.testing.assert_allclose(model.weights, expected, atol=1e-6)


def test_the_gradients_of_the_model_are_the_seeds(example):
    from zygote_lite import pullback

    module = example("polynomial_fit")
    xs = [1.0, 2.0, 3.0]
    z, back = pullback(module.Polynomial(np.array([3.0, 2.0, -3.0, 1.0])), xs)
    assert z == [3.0, 3.0, 9.0]
    dmodel, dxs = back([1.0, 1.0, 1.0])
    np.testing.assert_allclose(dmodel.weights, [3.0, 6.0, 14.0, 36.0])
    np.testing.assert_allclose(dxs, [-1.0, 2.0, 11.0])


def test_parameters_may_be_nested(example):
    module = example("polynomial_fit")
    a, b, c = np.ones(2), np.ones(3), np.ones(1)
    params = {"layers": [a, (b,)], "fixed": c}
    gradients = {"layers": [np.ones(2), (2 * np.ones(3),)], "fixed": None}
    module.update_params(params, gradients, learning_rate=0.5)
    assert (a.tolist(), b.tolist(), c.tolist()) == ([0.5, 0.5], [0.0, 0.0, 0.0], [1.0])


def test_least_squares_is_that_of_numpy(example):
    module = example("polynomial_data")
    xs, ys = module.noisy_points()
    expected = np.polynomial.polynomial.polyfit(xs, ys, 3)
    np.testing.assert_allclose(module.least_squares(xs, ys), expected, rtol=1e-8)


@pytest.mark.parametrize("name", ["polynomial_by_rrule", "polynomial_fit"])
def test_the_script_prints_the_table_and_writes_the_picture(example, name, tmp_path, capsys):
    module = example(name)
    module.main(["--out", str(tmp_path), "--iterations", "3"])
    printed = capsys.readouterr().out
    for word in ("target", "least squares", "gradient descent", f"{name}.png"):
        assert word in printed
    assert "15.00, -2.10, 13.90, 1.50" in printed
    if name == "polynomial_fit":  # the other one has no page
        assert_is_the_picture_of(name, tmp_path / f"{name}.png", whole=False)
