"""Filters that call a function of the user's: of each window, or of each line."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.convolutions import margins
from rules_scipy.ndimage.ranks import footprint_of
from rules_scipy.shared.interpolation.instances import added
from rules_scipy.shared.pixels.boundaries import (
    axes_of_filter,
    extended,
    folded,
    one_for_each,
    spread_on_axes,
)
from rules_scipy.shared.pixels.outputs import value_of
from rules_scipy.shared.solvers import name_of, solver
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.ndimage.functions")
BY = ("input", "function", "extra_arguments", "extra_keywords")


class Calls:
    """Call a function of each row of an array, and pull cotangents back through all calls.

    Arguments:
        f: SciPy's filter.
        ad: the AD.
        run: what calls the function, with all that it may depend on.
        rows: the array.
        given: SciPy's arguments.
    """

    def __init__(self, f, ad, run, rows, given):
        if not callable(given["function"]):
            raise NotImplementedError(
                f"{name_of(f)} has a rule for functions in Python: write it in Python"
            )
        captured = given["function"], given["extra_arguments"], given["extra_keywords"] or {}
        made = [ad(run, row, *captured) for row in rows]
        self.values, self.backs = [y for y, _ in made], [back for _, back in made]
        self.rows = rows

    def pulled(self, dvalues):
        """Return the cotangents of the rows, and those of the rest by name."""
        drows, rest = [], (None, None, None)
        for row, d, back in zip(self.rows, dvalues, self.backs, strict=True):
            _, drow, *more = back(d)
            drows.append(np.zeros_like(row) if drow is None else drow)
            rest = tuple([added(*each) for each in zip(rest, more, strict=True)])
        return np.reshape(drows, np.shape(self.rows)), dict(zip(BY[1:], rest, strict=True))


def of_window(window, function, arguments, keywords):
    """Return the value of a function of a window."""
    return function(window, *arguments, **keywords)


def of_line(line, function, arguments, keywords, size):
    """Return the line that a function writes."""
    found = np.zeros(size)
    function(line, found, *arguments, **keywords)
    return found


def nothing(*_):
    """Stand for the function, on which neither SciPy's checks nor the kind of the value depend."""
    return 0.0


def checked(f, given):
    """Return the kind of what a filter returns, after SciPy's own checks."""
    rest = {name: x for name, x in given.items() if name not in BY and x is not None}
    return value_of(f, given["input"], nothing, **rest).dtype


def places_of_windows(shape, footprint):
    """Return where the entries of each window stand in an extended image, which is flat."""
    if 0 in shape:
        return np.zeros((0, int(np.sum(footprint))), int)
    whole = [n + size - 1 for n, size in zip(shape, footprint.shape, strict=True)]
    numbers = np.arange(np.prod(whole, dtype=int)).reshape(whole)
    first = numbers[tuple([slice(0, n) for n in shape])]
    window = numbers[tuple([slice(0, n) for n in footprint.shape])]
    return np.ravel(first)[:, None] + window[footprint]


rule.constant(checked, places_of_windows)


@solver(rule, nd.generic_filter, by=BY, whole=True)
def _(ad, given):
    f, kind = nd.generic_filter, checked(nd.generic_filter, given)
    x = np.asarray(given["input"])
    axes = axes_of_filter(given["axes"], x.ndim)
    footprint = footprint_of(f, given["size"], given["footprint"], axes, x.ndim)
    origins = spread_on_axes(one_for_each(given["origin"], len(axes)), axes, x.ndim, 0)
    reach = margins(footprint.shape, origins) if x.size else [(0, 0)] * x.ndim
    modes = [given["mode"]] * x.ndim
    around = extended(x.astype(float), reach, modes, given["cval"])
    places = places_of_windows(x.shape, footprint)
    calls = Calls(f, ad, of_window, np.ravel(around)[places], given)

    def pullback(dy):
        rows, found = calls.pulled(np.ravel(dy).astype(float))
        full = np.zeros(around.size)
        np.add.at(full, places, rows)
        dx = folded(full.reshape(around.shape), reach, modes)
        return {**found, "input": project(dx, given["input"])}

    return np.reshape(calls.values, x.shape).astype(kind), pullback


@solver(rule, nd.generic_filter1d, by=BY, whole=True)
def _(ad, given):
    f, kind = nd.generic_filter1d, checked(nd.generic_filter1d, given)
    x = np.moveaxis(np.asarray(given["input"], float), given["axis"], -1)
    shape, size = x.shape, x.shape[-1]
    ends = margins((given["filter_size"],), (given["origin"],)) if x.size else [(0, 0)]
    reach = [(0, 0)] * (x.ndim - 1) + ends
    modes = [given["mode"]] * x.ndim
    around = extended(x, reach, modes, given["cval"])

    def run(line, function, arguments, keywords):
        return of_line(line, function, arguments, keywords, size)

    calls = Calls(f, ad, run, around.reshape(x.size // max(size, 1), around.shape[-1]), given)

    def pullback(dy):
        lines = np.moveaxis(dy, given["axis"], -1).astype(float)
        rows, found = calls.pulled(lines.reshape(x.size // max(size, 1), size))
        dx = folded(rows.reshape(around.shape), reach, modes)
        return {**found, "input": project(np.moveaxis(dx, -1, given["axis"]), given["input"])}

    y = np.moveaxis(np.reshape(calls.values, shape), -1, given["axis"])
    return y.astype(kind), pullback
