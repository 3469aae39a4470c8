"""Fit a polynomial by `rrule` alone: no AD, the chain rule is written out by hand.

Each step asks for the rules of two functions, `evalpoly` and the error, and hands the cotangent
of one pullback to the next. It is done twice: point by point in a loop, and for all points at
once with `map`. (Part 1 of the series on MicroGrad.jl by Lior Sinai.)

    python examples/polynomial_by_rrule.py --out polynomial_by_rrule.png
"""

import argparse
from functools import reduce
from operator import add

import numpy as np
from polynomial_data import comparison, draw, noisy_points, picture_path, print_table, start

from rules_base import evalpoly
from rules_nnlib import mse
from rulescore import RuleSet, rrule

rule = RuleSet("polynomial_by_rrule")


def squared_error(prediction, y, n):
    """Return one point's share of the mean squared error of `n` points."""
    return (prediction - y) ** 2 / n


@rule(squared_error)
def _(prediction: float, y: float, n: int):
    error = prediction - y

    def pullback(dy):
        d = 2 * error / n * dy
        return d, -d, None

    return error**2 / n, pullback


rule.register()


def descend_by_loop(coeffs, xs, ys, *, learning_rate=0.1, max_iters=100):
    """Change the array `coeffs` by gradient descent, point by point, and return the losses."""
    losses = []
    n = len(xs)
    for _ in range(max_iters):
        loss = 0.0
        dcoeffs = np.zeros_like(coeffs)
        for x, y in zip(xs, ys, strict=True):
            # forward
            prediction, back_polynomial = rrule(evalpoly, x, coeffs)
            error, back_error = rrule(squared_error, prediction, y, n)
            # reverse
            _, dprediction, _, _ = back_error(1.0)
            _, _, dcoeffs_of_point = back_polynomial(dprediction)
            # accumulate
            loss += error
            dcoeffs += dcoeffs_of_point
        coeffs -= learning_rate * dcoeffs
        losses.append(loss)
    return losses


def descend_by_map(coeffs, xs, ys, *, learning_rate=0.1, max_iters=100):
    """Change the array `coeffs` by gradient descent, all points at once, and return the losses."""

    def at(x):
        return rrule(evalpoly, x, coeffs)

    losses = []
    for _ in range(max_iters):
        # forward
        predictions, backs = zip(*map(at, xs), strict=True)
        loss, back_loss = rrule(mse, list(predictions), ys)
        # reverse
        _, dpredictions, _ = back_loss(1.0)
        cotangents = map(lambda back, dy: back(dy), backs, dpredictions)
        dcoeffs = reduce(add, (dcoeffs for _, _, dcoeffs in cotangents))
        # update
        coeffs -= learning_rate * dcoeffs
        losses.append(loss)
    return losses


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=".", help="the picture, or a directory for it")
    parser.add_argument("--iterations", type=int, default=2000)
    given = parser.parse_args(arguments)

    xs, ys = noisy_points()
    by_loop, by_map = start(), start()
    losses = descend_by_loop(by_loop, xs, ys, learning_rate=1e-5, max_iters=given.iterations)
    descend_by_map(by_map, xs, ys, learning_rate=1e-5, max_iters=given.iterations)

    rows = comparison({"gradient descent": by_loop, "the same by map": by_map}, xs, ys)
    print_table(rows)
    path = picture_path(given.out, "polynomial_by_rrule.png")
    draw(rows, xs, ys, losses, path)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
