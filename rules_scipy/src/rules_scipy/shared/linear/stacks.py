"""Stacks of matrices, for functions that SciPy too applies to one matrix after the other."""

import functools

import numpy as np

from rulescore import project


def stacked(f, *cores):
    """Extend the body of a rule for `f` to stacks: arguments with more axes than a matrix has.

    Arguments:
        f: the function, which gives the value.
        cores: for each argument how many axes belong to one call; `None` for one that has no
            stack; 12 for a vector if there is one axis, and else a matrix; and for a tuple as many
            of these as it has entries, after each other in a tuple.
    """

    def decorate(body):
        @functools.wraps(body)
        def extended(*xs, **options):
            if not any(map(is_stack, xs, cores)):
                return body(*xs, **options)
            given, rest = xs[: len(cores)], xs[len(cores) :]
            shape = np.broadcast_shapes(
                *(s for x, c in zip(given, cores, strict=False) for s in stacks(x, c))
            )

            def pullback(dy):
                found = []
                for at in np.ndindex(*shape):
                    own = [one(x, core, shape, at) for x, core in zip(given, cores, strict=False)]
                    y, back = body(*own, *rest, **options)
                    found.append(pulled(back, of_one(dy, at, y)))
                every = zip(*found, strict=True) if found else [()] * len(given)
                return tuple(
                    [whole(d, x, c, shape) for d, x, c in zip(every, given, cores, strict=False)]
                )

            return f(*[kept(x) for x in given], *rest, **options), pullback

        return extended

    return decorate


def kept(x):
    """Return what `f` may write to, where it is told to: the argument is needed as it is."""
    return np.copy(x) if isinstance(x, np.ndarray) else x


def axes_of_one(x, core):
    """Return how many axes of an argument belong to one call."""
    return min(np.ndim(x), 2) if core == 12 else core


def stacks(x, core):
    """Return the shapes of the stacks that an argument holds."""
    if type(core) is tuple and isinstance(x, tuple):
        return [shape for entry, c in zip(x, core, strict=True) for shape in stacks(entry, c)]
    core = core[0] if type(core) is tuple else core
    return [] if core is None else [np.shape(x)[: np.ndim(x) - axes_of_one(x, core)]]


def is_stack(x, core):
    """Return whether an argument holds a stack."""
    if type(core) is tuple:
        if isinstance(x, tuple):
            return any(map(is_stack, x, core))
        core = core[0]
    if core is None:
        return False
    ndim = x.ndim if type(x) is np.ndarray else np.ndim(x)
    return ndim > (2 if core == 12 else core)


def one(x, core, shape, at):
    """Return the part of an argument that one call of a stack takes."""
    if type(core) is tuple and isinstance(x, tuple):
        return tuple([one(entry, c, shape, at) for entry, c in zip(x, core, strict=True)])
    core = core[0] if type(core) is tuple else core
    if core is None:
        return x
    x = np.asarray(x)
    core = axes_of_one(x, core)
    return np.broadcast_to(x, shape + x.shape[x.ndim - core :])[at]


def of_one(dy, at, y):
    """Return the cotangent of what one call of a stack returns; SciPy makes a list of a tuple."""
    if isinstance(y, tuple):
        given = dy if isinstance(dy, list | tuple) else [dy]  # an only entry comes alone
        return tuple([of_one(d, at, None) for d in given])
    return None if dy is None else np.asarray(dy)[at]


def pulled(back, dy):
    """Return the cotangents that a body's pullback gives, whatever its form."""
    if type(back) is not tuple:
        return back(dy)
    if len(back) == 2 and type(back[1]) is tuple:
        shared, back = back
        dy = shared(dy)
    return tuple([None if part is None else part(dy) for part in back])


def whole(ds, x, core, shape):
    """Return the cotangent of an argument for those of the parts that the calls took."""
    if type(core) is tuple and isinstance(x, tuple):
        entries = zip(*(d for d in ds if d is not None), strict=True)
        return (
            tuple([whole(d, e, c, shape) for d, e, c in zip(entries, x, core, strict=True)]) or None
        )
    core = core[0] if type(core) is tuple else core
    if core is None or all(d is None for d in ds):
        return None
    return project(np.reshape(np.stack(ds), shape + np.shape(ds[0])), x)
