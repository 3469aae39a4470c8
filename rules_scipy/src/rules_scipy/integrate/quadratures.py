"""Integrals of functions of a number."""

import itertools

import numpy as np
from scipy import integrate as si

from rules_scipy.integrate.initial_values import refuse_unless_first
from rules_scipy.shared.flat import Flat
from rules_scipy.shared.solvers import as_arguments, entries_of, like_arguments, solver
from rulescore import RuleSet, stop_gradient

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.integrate.quadratures")
SECOND = (
    "scipy.integrate has no second derivatives and no tangents of integrals over several "
    "variables, which would take minutes: integrate the derivative of the integrand, and take "
    "the gradient of that, or take differences of gradients"
)
WITHIN = 1e-9  # the least relative error that is asked for


@solver(rule, si.quad, by=("func", "a", "b", "args"))
def _(ad, y, given):
    if given["weight"] is not None or given["complex_func"]:
        raise NotImplementedError(
            "scipy.integrate.quad has no rule for weight and complex_func: multiply by the weight "
            "in the function, and integrate real and imaginary part apart"
        )
    f, a, b, args = given["func"], given["a"], given["b"], as_arguments(given["args"])
    inside = Inside(ad, f, args, y[0], given)
    lower, upper = end(f, a, args), end(f, b, args)

    def pullback(dy):
        (dvalue,) = entries_of(dy, si.quad, True, (0,))
        if dvalue is None:
            return {}
        df, *dargs = inside.pulled(dvalue) or (None, *(None for _ in args))
        found = {"func": df, "args": like_arguments(dargs, given["args"])}
        return {**found, "a": -dvalue * lower, "b": dvalue * upper}

    return pullback


def quad_vec_of(f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=1e8, limit=10000,
                workers=1, points=None, quadrature=None, full_output=False,
                args=()):  # fmt: skip
    """Return what `quad_vec` does, whose `args` have a name and no position."""
    return si.quad_vec(f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points,
                       quadrature, full_output, args=args)  # fmt: skip


@solver(rule, quad_vec_of, by=("f", "a", "b", "args"))
@solver(rule, si.quad_vec, by=("f", "a", "b"), by_position=quad_vec_of)
def _(ad, y, given):
    if np.iscomplexobj(y[0]):
        raise NotImplementedError(
            "scipy.integrate.quad_vec has no rule for complex integrands: return "
            "`np.array([z.real, z.imag])`"
        )
    f, a, b, args = given["f"], given["a"], given["b"], as_arguments(given["args"])
    inside = Inside(ad, f, args, y[0], given)
    lower, upper = end(f, a, args), end(f, b, args)

    def pullback(dy):
        (dvalue,) = entries_of(dy, si.quad_vec, True, (0,))
        if dvalue is None:
            return {}
        df, *dargs = inside.pulled(dvalue) or (None, *(None for _ in args))
        found = {"f": df, "args": like_arguments(dargs, given["args"])}
        return {**found, "a": -np.sum(dvalue * lower), "b": np.sum(dvalue * upper)}

    return pullback


def end(f, x, args):
    """Return the integrand at a limit: an infinite one does not move."""
    if not np.isfinite(x):
        return 0.0
    with np.errstate(all="ignore"):
        try:
            return f(x, *args)
        except (
            ZeroDivisionError
        ):  # it is singular there, as it may be at a limit that does not move
            return np.nan


class Inside:
    """Integrate the cotangents of an integrand and its arguments.

    This is done at once: what the integrand captured may be another thing later.

    Arguments:
        ad: the AD.
        f, args: the integrand, and its arguments behind the variable.
        y: the integral, a number or an array.
        given: SciPy's arguments.
    """

    def __init__(self, ad, f, args, y, given):
        self.flat = Flat()
        units = np.eye(np.size(y)).reshape(np.size(y), *np.shape(y))

        def integrand(x):
            value, back = ad(f, x, *args)
            rows = [self.flat.vector(without_variable(back(unit[()]))) for unit in units]
            return np.concatenate(rows), np.ravel(value)

        self.rows = None
        if not len(units):  # of an empty vector
            return
        options = {name: stop_gradient(given[name]) for name in ("epsrel", "limit", "points")}
        ends = given["a"], given["b"]
        found, _ = self.flat.settled(lambda: integral(self.flat, integrand, *ends, **options))
        self.rows = found.reshape(len(units), -1)

    def pulled(self, dvalue):
        """Return the cotangents of the integrand and its arguments, for that of the integral."""
        if self.rows is None:
            return None
        return self.flat.cotangent(np.ravel(dvalue) @ self.rows)


def without_variable(found):
    """Return the cotangents of a function and its arguments, without that of the first."""
    df, _, *dargs = found
    return (df, *dargs)


def integral(flat, integrand, a, b, norm=None, epsrel=1e-8, **options):
    """Return the integrals of cotangents, and approximate ones of values.

    The rule on the whole interval is enough if its estimate of the error is small, as it is for
    `quad`; `quad_vec` always halves the interval. The values tell of what the cotangents hide: a
    peak at a node, where its derivative is zero.

    Arguments:
        flat: what writes the cotangents as vectors.
        integrand: the function that returns the vector of cotangents, and that of values.
        a, b: the limits.
        norm: the norm of vectors that an error is measured by; by default each entry is measured
            by the largest value of its integrand, so that small cotangents are as exact as others.
        epsrel: the relative error. An absolute one, which is meant for the value, is not asked for:
            a cotangent may be of any size.
    """
    if not flat.is_begun:
        integrand(middle(a, b))  # so that quad_vec begins with all parts of the cotangents
    parts = Parts(integrand)
    norm, epsrel = norm or parts.norm, max(epsrel, WITHIN)
    options = {"quadrature": "gk21", "epsabs": 0.0, "epsrel": epsrel, "norm": norm, **options}
    found, error = si.quad_vec(parts, a, b, **{**options, "limit": 1})
    if not error <= epsrel * norm(found):
        found = si.quad_vec(parts, a, b, **options)[0]
    return found[: parts.count], found[parts.count :]


class Parts:
    """An integrand that returns one vector, and remembers the largest value of each entry.

    Arguments:
        integrand: the function that returns the vector of cotangents, and that of values.
    """

    def __init__(self, integrand):
        self.integrand = integrand
        self.count = 0  # of the cotangents' entries
        self.largest = np.zeros(1, dtype=object)  # of each entry, at the points so far

    def __call__(self, x):
        """Return the cotangents and the values at a point."""
        cotangents, values = self.integrand(x)
        self.count = len(cotangents)
        found = np.concatenate([cotangents, values])
        note_largest(self.largest, found)
        return found

    def norm(self, found):
        """Return the largest entry, in units of the largest value of its integrand."""
        return in_units(self.largest, found)


def note_largest(largest, found):
    """Keep the largest value of each entry, in an array that holds one array."""
    largest[0] = np.maximum(largest[0], np.abs(found))


def in_units(largest, found):
    """Return the largest entry, in units of the largest value of each."""
    is_met = largest[0] > 0
    return np.max(np.abs(found[is_met]) / largest[0][is_met], initial=0.0)


rule.constant(note_largest, in_units)  # no gradient passes through how exact an integral is


def middle(a, b):
    """Return a number between two limits."""
    if np.isfinite(a) and np.isfinite(b):
        return (a + b) / 2
    return a + 1.0 if np.isfinite(a) else b - 1.0 if np.isfinite(b) else 0.0


@solver(rule, si.dblquad, by=("func", "a", "b", "gfun", "hfun", "args"))
def _(ad, y, given):
    ranges = [(given["gfun"], given["hfun"]), (given["a"], given["b"])]
    return of_nested(ad, si.dblquad, given, ranges, ("gfun", "hfun", "a", "b"))


@solver(rule, si.tplquad, by=("func", "a", "b", "gfun", "hfun", "qfun", "rfun", "args"))
def _(ad, y, given):
    limits = ("qfun", "rfun", "gfun", "hfun", "a", "b")
    ranges = [(given[limits[i]], given[limits[i + 1]]) for i in (0, 2, 4)]
    return of_nested(ad, si.tplquad, given, ranges, limits)


@solver(rule, si.nquad, by=("func", "ranges", "args"))
def _(ad, y, given):
    if given["opts"] is not None:
        raise NotImplementedError(
            "scipy.integrate.nquad has no rule for opts: leave it out, or nest calls of `quad`"
        )
    return of_nested(ad, si.nquad, given, given["ranges"], None)


def of_nested(ad, f, given, ranges, limits):
    """Return the pullback of an integral over several variables.

    Arguments:
        ad, f, given: the AD, SciPy's function and its arguments.
        ranges: the limits of each variable, the innermost first, as `limits_of` takes them.
        limits: the names of these, one after the other, if they are arguments of their own.
    """
    limits_given = itertools.chain(*map(both_of, ranges))
    refuse_unless_first(SECOND, given["func"], given["args"], *limits_given)
    inside = Nested(ad, given["func"], as_arguments(given["args"] or ()))
    found, _ = inside.flat.settled(lambda: inside.cotangents(ranges))

    def pullback(dy):
        (dvalue,) = entries_of(dy, f, True, (0,))
        if dvalue is None:
            return {}
        df, dargs, *dranges = inside.flat.cotangent(dvalue * found)
        pulled = {"func": df, "args": dargs and like_arguments(dargs, given["args"])}
        if limits is None:
            return {**pulled, "ranges": type(ranges)(dranges)}
        ends = [d for pair in dranges for d in pair or (None, None)]
        return {**pulled, **dict(zip(limits, ends, strict=True))}

    return pullback


def both_of(limits):
    """Return the limits of a variable, or the one function that gives them."""
    return (limits,) if callable(limits) else limits


class Nested:
    """Integrate the cotangents of an integrand over several variables.

    The derivative of an integral is the integral of the derivative, and at each limit the integrand
    times the derivative of the limit (Leibniz).

    Arguments:
        ad: the AD.
        f, args: the integrand, and its arguments behind the variables.
    """

    def __init__(self, ad, f, args):
        self.ad, self.f, self.args = ad, f, args
        self.flat = Flat()  # of cotangents of `f`, of `args`, and of each range

    def cotangents(self, ranges, later=()):
        """Return the cotangents for given values of the later variables, as a vector.

        The second result is the value, approximately.
        """
        *inner, of_last = ranges
        lower, upper = limits_of(of_last, self.args, later)

        def integrand(x):
            if inner:
                return self.cotangents(inner, (x, *later))
            value, back = self.ad(self.f, x, *later, *self.args)
            df, *dxs = back(1.0)
            return self.flat.vector((df, tuple(dxs[1 + len(later) :]))), np.ravel(value)

        at = lambda x: nested(self.f, inner, self.args, (x, *later))
        ends = [-end(at, lower, ()), end(at, upper, ())]
        at_ends = self.of_limits(of_last, ends, later, len(inner))
        few = {
            "quadrature": "gk15",
            "norm": np.linalg.norm,
        }  # an inner integral may be but rounding
        inside, value = integral(self.flat, integrand, lower, upper, **few)
        return inside + self.flat.vector(at_ends), value

    def of_limits(self, of_one, ends, later, position):
        """Return the cotangents of what gives the limits of a variable, for those of the limits."""
        dargs, place = None, [None] * position
        if callable(of_one):
            _, back = self.ad(of_one, *later, *self.args)
            d, *dxs = back(ends)
            dargs = tuple(dxs[len(later) :])
        else:
            d = tuple([self.ad(limit, *later[::-1])[1](end)[0] if callable(limit) else end
                       for limit, end in zip(of_one, ends, strict=True)])  # fmt: skip
        return (None, dargs, *place, d)


def nested(f, ranges, args, later):
    """Return an integral over variables of these ranges, for given values of the later ones."""
    if not ranges:
        return f(*later, *args)
    *inner, of_last = ranges
    lower, upper = limits_of(of_last, args, later)
    return si.quad(lambda x: nested(f, inner, args, (x, *later)), lower, upper)[0]


def limits_of(of_one, args, later):
    """Return the limits of a variable: a function of all that is given returns both.

    Or each is a function of the later variables, the last one first.
    """
    if callable(of_one):
        return of_one(*later, *args)
    return [limit(*later[::-1]) if callable(limit) else limit for limit in of_one]
