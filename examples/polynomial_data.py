"""What both polynomial examples share: noisy points of a cubic, least squares, table, picture."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from rules_base import evalpoly
from rules_nnlib import mse

TARGET = [15.0, -2.1, 13.9, 1.5]


def noisy_points(n=100, noise=0.2, seed=0):
    """Return `n` points x in [-5, 5] and noisy values y of the target polynomial, as lists."""
    rng = np.random.default_rng(seed)
    xs = (rng.random(n) - 0.5) * 10
    ys = evalpoly(xs, TARGET)
    ys = ys + rng.normal(size=n) * np.mean(np.abs(ys)) * noise
    return xs.tolist(), ys.tolist()


def start(seed=1):
    """Return the random coefficients that gradient descent starts with."""
    return np.random.default_rng(seed).random(len(TARGET))


def least_squares(xs, ys, order=3):
    """Return the coefficients that minimize the squared error, by the pseudoinverse."""
    powers = np.vander(np.asarray(xs), order + 1, increasing=True)
    return np.linalg.pinv(powers) @ np.asarray(ys)


def comparison(fitted, xs, ys):
    """Return a row (method, loss, coefficients) for the target, least squares and each fit."""
    rows = {"target": TARGET, "least squares": least_squares(xs, ys), **fitted}
    x, y = np.array(xs), np.array(ys)
    return [(name, mse(evalpoly(x, c), y), list(c)) for name, c in rows.items()]


def print_table(rows):
    table = Table("method", "loss", "coefficients")
    for name, loss, coeffs in rows:
        table.add_row(name, f"{loss:.2f}", ", ".join(f"{c:.2f}" for c in coeffs))
    Console().print(table)


def draw(rows, xs, ys, losses, path):
    """Write a picture to `path`: the points with each row's curve, and the losses."""
    figure = Figure(figsize=(6, 2.7), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2)
    left.scatter(xs, ys, s=8, color="gray", label="data")
    x = np.linspace(min(xs), max(xs), 200)
    for (name, _, coeffs), style in zip(rows, ["k--", "C0", "C1", "C2:"], strict=False):
        left.plot(x, evalpoly(x, coeffs), style, label=name)
    left.set(title="polynomials", xlabel="$x$", ylabel="$y$")
    left.legend()
    right.semilogy(range(1, len(losses) + 1), losses)
    right.set(title="training", xlabel="iteration", ylabel="mean squared error")
    right.grid(alpha=0.3)
    figure.savefig(path, format="png")


def options(description, arguments):
    """Return what the command line gives: the picture's place, and the number of iterations."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=".", help="the picture, or a directory for it")
    parser.add_argument("--iterations", type=int, default=2000)
    return parser.parse_args(arguments)


def report(fitted, xs, ys, losses, out, name):
    """Print the table, and draw the picture: `out`, or the file `name` in the directory `out`."""
    print_table(rows := comparison(fitted, xs, ys))
    path = out / name if out.is_dir() else out
    draw(rows, xs, ys, losses, path)
    print(f"picture: {path}")
