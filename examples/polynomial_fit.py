"""Fit a polynomial by `pullback`: gradient descent that knows nothing of the model or the loss.

`pullback` returns the gradient of the model in the model's own structure, and `update_params`
walks over it. (Part 4 of the series on MicroGrad.jl by Lior Sinai.)

    python examples/polynomial_fit.py --out polynomial_fit.png
"""

from polynomial_data import noisy_points, options, report, start

from rules_base import evalpoly
from rules_nnlib import mse
from zygote_lite import pullback


class Polynomial:
    """A polynomial with an array of weights, ascending."""

    def __init__(self, weights):
        self.weights = weights

    def __call__(self, xs):
        def at(x):
            return evalpoly(x, self.weights)

        return list(map(at, xs))


def parameters(model):
    """Return the arrays that training changes, by name."""
    return {"weights": model.weights}


def update_params(params, gradients, *, learning_rate=0.1):
    """Change the arrays in `params` by their gradients, in place, whatever holds them."""
    if isinstance(params, dict):
        for name in params:
            update_params(params[name], gradients[name], learning_rate=learning_rate)
    elif isinstance(params, list | tuple):
        for p, g in zip(params, gradients, strict=True):
            update_params(p, g, learning_rate=learning_rate)
    elif gradients is not None:
        params -= learning_rate * gradients


def gradient_descent(model, loss, xs, ys, *, learning_rate=0.1, max_iters=100):
    """Fit the parameters of `model` to the points, in place, and return the losses."""
    losses = []
    for _ in range(max_iters):
        loss_now, back = pullback(lambda m: loss(m(xs), ys), model)
        _, dmodel = back(1.0)
        update_params(parameters(model), dmodel, learning_rate=learning_rate)
        losses.append(loss_now)
    return losses


def main(arguments=None):
    given = options(__doc__.splitlines()[0], arguments)
    xs, ys = noisy_points()
    model = Polynomial(start())
    losses = gradient_descent(model, mse, xs, ys, learning_rate=1e-5, max_iters=given.iterations)
    fitted = {"gradient descent": model.weights}
    report(fitted, xs, ys, losses, given.out, "polynomial_fit.png")


if __name__ == "__main__":
    main()
