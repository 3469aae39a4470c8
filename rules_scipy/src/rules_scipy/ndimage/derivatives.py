"""Differences of images: `sobel`, `prewitt`, `laplace`, and those made of a given derivative."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.convolutions import by_line
from rules_scipy.ndimage.smoothing import magnitude
from rules_scipy.shared.pixels.boundaries import axes_of_filter, one_for_each
from rules_scipy.shared.pixels.outputs import refuse_given, refuse_truncated, value_of
from rules_scipy.shared.solvers import name_of
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.ndimage.derivatives")
ArrayLike = Numeric | list | tuple
DIFFERENCE = np.array([-1.0, 0.0, 1.0])
CURVATURE = np.array([1.0, -2.0, 1.0])


def declare(f, across):
    """Declare the rule of a difference along one axis, with weights along the others."""

    @rule(f)
    def _(input: ArrayLike, axis=-1, output=None, mode="reflect", cval=0.0):
        y = value_of(f, input, axis, output=output, mode=mode, cval=cval)

        def pullback(dy):
            modes = one_for_each(mode, dy.ndim)
            for k, end in enumerate(modes):
                weights = DIFFERENCE if k == axis % dy.ndim else across
                dy = by_line(dy, weights, k, end, 0)
            return (project(dy, input),)

        return y, pullback


declare(nd.sobel, np.array([1.0, 2.0, 1.0]))
declare(nd.prewitt, np.array([1.0, 1.0, 1.0]))


@rule(nd.laplace)
def _(input: ArrayLike, output=None, mode="reflect", cval=0.0, *, axes=None):
    options = {} if axes is None else {"axes": axes}
    y = value_of(nd.laplace, input, output=output, mode=mode, cval=cval, **options)
    along = axes_of_filter(axes, np.ndim(input))
    modes = one_for_each(mode, len(along))

    def pullback(dy):
        parts = [
            by_line(dy, CURVATURE, axis, end, 0) for axis, end in zip(along, modes, strict=True)
        ]
        return (project(sum(parts[1:], parts[0]) if parts else dy, input),)

    return y, pullback


def fixed(options):
    """Return options, which carry no gradient."""
    return options


rule.constant(fixed)


def derivatives_of(input, derivative, given):
    """Return what a user's function gives for each axis, in a list."""
    output, mode, _, axes, _, _ = fixed(given)
    x = np.asarray(input)
    along = axes_of_filter(axes, x.ndim)
    modes = one_for_each(mode, len(along))
    found = [of_axis(x, derivative, axis, modes[i], given) for i, axis in enumerate(along)]
    return found or [x.astype(output or x.dtype)]


def of_axis(x, derivative, axis, mode, given):
    """Return what a user's function gives for one axis."""
    output, _, cval, _, extra, named = fixed(given)
    output = x.dtype if output is None else np.dtype(output)
    if not extra and not named:
        return derivative(x, axis, output, mode, cval)
    return derivative(x, axis, output, mode, cval, *extra, **named)


def sum_of_derivatives(input, derivative2, given):
    """Return what `scipy.ndimage.generic_laplace` does."""
    parts = derivatives_of(input, derivative2, given)
    return sum(parts[1:], parts[0])


def length_of_derivatives(input, derivative, given):
    """Return what `scipy.ndimage.generic_gradient_magnitude` does."""
    parts = derivatives_of(input, derivative, given)
    return magnitude(parts) if given[3] is None or np.size(given[3]) else parts[0]


def refuse_unwritten(f, y, input, derivative, given):
    """Raise `NotImplementedError` where SciPy's value is not that of what a function returns.

    For the first axis SciPy reads what the function has written to `output`, and no returned value.
    """
    output, mode, cval, axes, extra, named = given
    options = {} if axes is None else {"axes": axes}
    known = f(input, derivative, output, mode, cval, extra, named, **options)
    bound = np.sqrt(np.finfo(y.dtype).eps)
    scale = np.max(np.abs(known[np.isfinite(known)]), initial=0)
    if not np.allclose(y, known, bound, bound * scale, equal_nan=True):
        raise NotImplementedError(
            f"{name_of(f)} has a rule for a derivative that writes to its argument `output` and "
            "returns the same: hand `output` on to the filter that it calls"
        )


rule.constant(refuse_unwritten)


def declare_generic(f, written):
    """Declare the rule of a filter that is given a derivative."""

    @rule(f)
    def _(
        input: ArrayLike,
        derivative: object,
        output=None,
        mode="reflect",
        cval=0.0,
        extra_arguments=(),
        extra_keywords=None,
        *,
        axes=None,
        ad,
    ):
        refuse_given(f, output)
        given = (output, mode, cval, axes, extra_arguments, extra_keywords or {})
        y, back = ad(lambda x, f: written(x, f, given), input, derivative)
        refuse_truncated(f, y)
        refuse_unwritten(f, y, input, derivative, given)

        def pullback(dy):
            return back(dy)[1:3]

        return y, pullback


declare_generic(nd.generic_laplace, sum_of_derivatives)
declare_generic(nd.generic_gradient_magnitude, length_of_derivatives)
