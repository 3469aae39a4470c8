"""Fit a polynomial by `rrule` alone: no AD, the chain rule is written out by hand.

Each step asks for the rules of two functions, `evalpoly` and the error, and hands the cotangent
of one pullback to the next. It is done twice: point by point in a loop, and for all points at
once, with `map`. (Part 1 of the series on MicroGrad.jl by Lior Sinai.)

    python examples/polynomial_by_rrule.py --out polynomial_by_rrule.png
"""

from functools import reduce
from operator import add

import numpy as np
from polynomial_data import noisy_points, options, report, start

from rules_base import evalpoly
from rules_nnlib import mse
from rulescore import RuleSet, rrule

rule = RuleSet("polynomial_by_rrule")


def squared_error(prediction, y, n):
    """Return one point's share of the mean squared error of `n` points."""
    return (prediction - y) ** 2 / n


@rule.scalar(squared_error)
def _(prediction, y, n):  # the partial derivatives
    slope = 2 * (prediction - y) / n
    return slope, -slope, None


rule.register()


def descend_by_loop(coeffs, xs, ys, *, learning_rate=0.1, max_iters=100):
    """Change the array `coeffs` by gradient descent, point by point, and return the losses."""
    losses, n = [], len(xs)
    for _ in range(max_iters):
        loss, dcoeffs = 0.0, np.zeros_like(coeffs)
        for x, y in zip(xs, ys, strict=True):
            # forward
            prediction, back_polynomial = rrule(evalpoly, x, coeffs)
            error, back_error = rrule(squared_error, prediction, y, n)
            # reverse
            _, dprediction, _, _ = back_error(1.0)
            _, _, dcoeffs_of_point = back_polynomial(dprediction)
            loss, dcoeffs = loss + error, dcoeffs + dcoeffs_of_point
        coeffs -= learning_rate * dcoeffs
        losses.append(loss)
    return losses


def descend_by_map(coeffs, xs, ys, *, learning_rate=0.1, max_iters=100):
    """Change the array `coeffs` by gradient descent, all points at once, and return the losses."""
    losses = []
    for _ in range(max_iters):
        # forward
        predictions, backs = zip(*(rrule(evalpoly, x, coeffs) for x in xs), strict=True)
        loss, back_loss = rrule(mse, list(predictions), ys)
        # reverse
        _, dpredictions, _ = back_loss(1.0)
        each = map(lambda back, dy: back(dy)[2], backs, dpredictions)
        coeffs -= learning_rate * reduce(add, each)
        losses.append(loss)
    return losses


def main(arguments=None):
    given = options(__doc__.splitlines()[0], arguments)
    (xs, ys), by_loop, by_map = noisy_points(), start(), start()
    losses = descend_by_loop(by_loop, xs, ys, learning_rate=1e-5, max_iters=given.iterations)
    descend_by_map(by_map, xs, ys, learning_rate=1e-5, max_iters=given.iterations)
    fitted = {"gradient descent": by_loop, "the same by map": by_map}
    report(fitted, xs, ys, losses, given.out, "polynomial_by_rrule.png")


if __name__ == "__main__":
    main()
