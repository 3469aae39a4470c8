"""The right-hand side of an equation with its pullback, in the forms in which SciPy takes it."""

import numpy as np


def rate_of(ad, f, args, read, may_be_array=True):
    """Return what gives the right-hand side and its pullback, at a time and a value.

    The pullback returns the cotangents of the function, the time, the value and the `args`. `read`
    makes a vector of what the function gives, which may be an array.
    """

    may_be_whole = may_be_array and read is as_vector

    def rate(t, x):
        nonlocal may_be_whole
        if may_be_whole:
            value, back = ad(f, t, x, *args)
            if type(value) is np.ndarray and value.dtype == x.dtype and value.shape == x.shape:
                return value, back  # what SciPy makes of it
            may_be_whole = False
        value, whole = ad(read, f, t, x, *args)
        if np.iscomplexobj(value) and not np.iscomplexobj(x):
            raise NotImplementedError(
                "scipy.integrate has no rule for a complex right-hand side of real values: give "
                "complex initial values"
            )
        return value, lambda dk: whole(dk)[1:]

    return rate


def rates_of(ad, f, args, read, may_be_array=True):
    """Return the right-hand side with its pullback, at one time and at many, and at many without.

    Of many times the values are in columns; with `upright`, vectors among the `args` are columns,
    too, as one that is added to a value has to be. The pullbacks return the cotangents of the
    function, the times, the values and the `args`. `may_be_array` tells whether the function may
    give an array, and not a list.
    """

    gives_arrays = may_be_array

    def plain(times, values, upright=False):
        given = as_columns(args) if upright else args
        return of_rows(read is value_first, f, times, values, *given)

    def many(times, values, upright=False):
        nonlocal gives_arrays
        more = as_columns(args) if upright else args
        if gives_arrays:
            given = (values, times) if read is value_first else (times, values)
            value, back = ad(f, *given, *more)
            if type(value) is np.ndarray:
                back = swapped(back) if read is value_first else back
                return value, with_vectors(back, args) if upright else back
            gives_arrays = False
        value, back = ad(of_rows, read is value_first, f, times, values, *more)
        of_all = lambda dk: back(dk)[2:]
        return value, with_vectors(of_all, args) if upright else of_all

    return rate_of(ad, f, args, read, may_be_array), many, plain


class NoColumnsError(Exception):
    """Tell that a right-hand side does not take columns, each for itself."""


def as_columns(args):
    """Return arguments with vectors as columns; raise `NoColumnsError` if there are none."""
    if not any(map(is_vector, args)):
        raise NoColumnsError
    return tuple([x[:, None] if is_vector(x) else x for x in args])


def is_vector(x):
    """Return whether an argument is a vector."""
    return type(x) is np.ndarray and x.ndim == 1


def with_vectors(back, args):
    """Return a pullback that gives the cotangents of columns as vectors."""

    def pullback(dk):
        df, dt, dx, *dargs = back(dk)
        pairs = zip(dargs, args, strict=True)
        dargs = [np.ravel(d) if d is not None and is_vector(x) else d for d, x in pairs]
        return df, dt, dx, *dargs

    return pullback


def swapped(back):
    """Return a pullback with the cotangents of the first two arguments in the other order."""

    def pullback(dk):
        df, dx, dt, *dargs = back(dk)
        return df, dt, dx, *dargs

    return pullback


def of_rows(is_value_first, f, times, values, *args):
    """Return a right-hand side as an array of rows, of which some may be numbers."""
    rows = f(values, times, *args) if is_value_first else f(times, values, *args)
    return np.stack([row + np.zeros_like(times) for row in rows])


def as_vector(f, t, x, *args):
    """Return a right-hand side as an array: it may give a list, or a number for all entries."""
    return np.asarray(f(t, x, *args)) + np.zeros_like(x)


def value_first(f, t, x, *args):
    """Return a right-hand side that takes the value before the time."""
    return np.asarray(f(x, t, *args)) + np.zeros_like(x)


def by_columns(f, t, x, *args):
    """Return a right-hand side that takes several values in columns."""
    return np.ravel(np.asarray(f(t, x[:, None], *args))) + np.zeros_like(x)
