"""Rules for functions that take a function, by parameters that may stand far behind."""

import functools
import inspect

import numpy as np

POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
KEYWORD = inspect.Parameter.KEYWORD_ONLY
NO_RULE = "what it does to the result has no rule"


def solver(rule, f, by, without=(), whole=False, with_ad=True, refused=None,
           apart=False, by_position=None):  # fmt: skip
    """Declare the rule of a function by the names of its parameters.

    The decorated body takes the AD, the value, and all of SciPy's parameters as a dict, those that
    were not given with their defaults. It returns a pullback from the cotangent of the value to a
    dict of cotangents by name.

    Arguments:
        rule: the rule set.
        f: SciPy's function.
        by: the parameters that have a derivative.
        without: those on which the value does not depend, such as where a search begins. All
            others are refused where a gradient would have to pass through them.
        whole: whether the body also computes the value: it takes the AD and the dict, and returns
            the value and the pullback.
        with_ad: whether it takes a function, which the AD differentiates; otherwise the body is
            not given the AD.
        refused: by the name of a parameter, a type with which it has no derivative, and why.
        apart: whether the body takes one more dict: of all parameters but those of `by` and
            `without`. It stays constant where the rule itself is differentiated.
        by_position: what takes parameters by position that `f` takes by name, if they have a
            derivative: its own rule has them in `by`.
    """
    signature = inspect.signature(f)
    given = [p for p in signature.parameters.values() if p.kind is POSITIONAL]
    names = [p.name for p in given]
    due = sum(p.default is p.empty for p in given)
    places = [names.index(name) for name in (*by, *without) if name in names]
    counts = sorted({due, *(i + 1 for i in places if i >= due)})

    def declare(body):
        for count, following in zip(counts, [*counts[1:], len(names) + 1], strict=True):
            known = {*by, *without}
            of_one = functools.partial(of_count, rule, f, body, count, following - 1, known, whole,
                                       with_ad, apart, by_position)  # fmt: skip
            of_one()
            for name, (kind, reason) in (refused or {}).items():
                if name in names[:count]:
                    of_one((name, kind, reason))
        return body

    return declare


def of_count(
    rule, f, body, count, options, known, whole, with_ad, apart, by_position, refused=None
):
    """Declare the rule for calls of `f` with `count` arguments.

    What follows them is an option; from the position `options` on it has to be given by its name,
    as a call with more arguments is for another rule. It may be for one type of a parameter, by
    which it has no derivative: `refused` is its name, the type, and why.
    """
    signature = inspect.signature(f)
    parameters = list(signature.parameters.values())
    given = [p for p in parameters if p.kind is POSITIONAL]
    names = [p.name for p in given[:count]]

    defaults = {p.name: p.default for p in parameters if p.kind in (POSITIONAL, KEYWORD)}
    every = [p.name for p in given]
    rest = [p.name for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD]

    def options_of(xs, more):
        found = {**defaults, **more}
        for i, name in enumerate(every[: len(xs)]):
            if name not in known:
                found[name] = xs[i]
        return (found,)

    def _(*xs, ad=None, **more):
        bound = {**defaults, **dict(zip(every, xs, strict=False))}
        bound |= {name: x for name, x in more.items() if name in defaults}
        if rest:
            bound[rest[0]] = {name: x for name, x in more.items() if name not in defaults}
        given = (bound, *options_of(xs, more)) if apart else (bound,)
        if whole:
            y, pullback = body(ad, *given)
        else:
            y = f(*xs, **more)
            pullback = body(ad, y, *given) if with_ad else body(y, *given)

        def back(dy):
            found = pullback(dy)
            return tuple([found.get(name) for name in names])

        return y, back

    _.__doc__ = body.__doc__
    empty = inspect.Parameter.empty
    shown = [p.replace(default=empty, annotation=object) for p in given[:count]]
    shown += [p.replace(annotation=empty) for p in given[count:options]]
    shown += [p.replace(kind=KEYWORD, annotation=empty) for p in given[options:]]
    shown += [p.replace(annotation=empty) for p in parameters if p.kind is KEYWORD]
    shown += [inspect.Parameter("ad", KEYWORD)] * with_ad
    shown += [p for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD]
    _.__signature__ = inspect.Signature(shown)
    refuses = {name: NO_RULE for name in names if name not in known}
    if refused is not None:
        name, kind, refuses[name] = refused
        at = names.index(name)
        shown[at] = shown[at].replace(annotation=kind)
        _.__signature__ = inspect.Signature(shown)
    rule(f, refuses=refuses, by_position=by_position)(_)


def name_of(f):
    """Return the name of a function of SciPy, where users find it."""
    return f"{'.'.join(f.__module__.split('.')[:2])}.{f.__name__}"


def as_arguments(args):
    """Return what SciPy passes on for `args`: one that is not a tuple stands for itself."""
    return args if isinstance(args, tuple) else (args,)


def refuse_unless_tuple(f, args):
    """Raise `NotImplementedError` for `args` that are no tuple, whose entries SciPy passes on."""
    if not isinstance(args, tuple):
        raise NotImplementedError(
            f"{name_of(f)} has a rule for args in a tuple, and not in {type(args).__name__}: "
            "write args=(...,)"
        )


def like_arguments(dargs, args):
    """Return the cotangent of `args` from those of its entries."""
    return tuple(dargs) if isinstance(args, tuple) else dargs[0]


def parts_of(dy, f, names):
    """Return the cotangents of fields of a result, `None` where it has none.

    Raises `NotImplementedError` where a field that is not among `names` has one.
    """
    found = {} if dy is None else dict(dy.items())
    for name, d in found.items():
        if d is not None and name not in names:
            raise NotImplementedError(
                f"of the result of {name_of(f)} {with_gradients(names)}, and not {name}: compute "
                f"that from {names[0]}"
            )
    return [found.get(name) for name in names]


def with_gradients(names):
    """Return in words which parts have a gradient."""
    *others, last = names
    return (
        f"only {', '.join(others)} and {last} have gradients"
        if others
        else f"only {last} has a gradient"
    )


def entries_of(dy, f, whole, places):
    """Return the cotangents of entries of what a function returns, a tuple if it is the `whole`.

    Raises `NotImplementedError` where another entry has one.
    """
    if not whole:
        return [dy, *(None for _ in places[1:])]
    for i, d in enumerate(dy):
        if d is not None and i not in places:
            raise NotImplementedError(
                f"entry {i} of the output of {name_of(f)} has no rule: compute it from entry "
                f"{places[0]}"
            )
    return [dy[i] for i in places]


def refuse_unsolved(f, done):
    """Raise `LinAlgError` where a solver has not found what it was to find."""
    if not done:
        raise np.linalg.LinAlgError(
            f"{name_of(f)} has not converged: what it returns has no derivative"
        )
