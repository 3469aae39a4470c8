"""`check_rrule`: everything that the rule contract asks, checked for one call.

The checks run in the order of the methods of `_Call`: what a later check needs, an earlier one has
shown.
"""

import copy
import gc
import random
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from rulescore._rule import Pullback, Rule, RuleError, name_of
from rulescore._table import find_rule, rrule
from rulescore._tangent import Tangent
from rulescore.testing._differences import derivatives, quietly
from rulescore.testing._leaves import (
    CheckError,
    arrays,
    children,
    double,
    inner,
    is_number,
    leaves,
    plain,
    random_direction,
    rebuild,
)

# how far a rule may be off, relative and absolute, by the coarsest precision that takes part
_TOLERANCE = {8: (1e-6, 1e-8), 4: (2e-3, 2e-4), 2: (5e-2, 2e-2)}
_CALLS = 64  # of which each may leave something behind in memory


def check_rrule(
    f: Any,
    /,
    *xs: Any,
    check_plugin: str | None = None,
    check_tolerance: float | None = None,
    check_direction: Callable[[Any], Any] | None = None,
    check_ad: Any = None,
    **options: Any,
) -> Rule:
    """Check the rule that answers `rrule(f, *xs, **options)`, and return it.

    Arguments:
        f: the function, or the callable object.
        xs: arguments at which `f` has a derivative, with some room around them.
        check_plugin: the name of the rule set that the rule has to be of.
        check_tolerance: how far the rule may be off from finite differences, relatively; by
            default what the precision of the arguments allows.
        check_direction: maps a random direction to one in which an argument may move, such as
            `lambda v: v + v.T` for functions of symmetric matrices.
        check_ad: the AD for functions that take functions; by default `rrule`, and finite
            differences where there is no rule.
        options: keyword arguments of `f`.

    Checked are the value; the number, shape, precision and container of the cotangents; each
    against directional finite differences; that `back` is linear, can be called again, takes
    every kind of `dy` (`None`, 0-d, strided, read-only, broadcast), changes and keeps nothing, and
    returns memory that nobody else has; that options leave the number of cotangents alone.
    Raises `CheckError`, an `AssertionError` that names the rule, the argument and the leaf.
    """
    call = _Call(f, xs, options, check_ad or _ad, check_tolerance, check_direction)
    call.finds_the_rule(check_plugin)
    try:
        call.has_the_value()
        call.pulls_none_to_none()
        if call.rule.kind == "constant":
            call.passes_no_cotangent()
        elif call.dy is None:
            call.is_flat()
        else:
            call.has_cotangents_of_the_kind()
            call.agrees_with_differences()
            call.is_linear()
            call.can_be_repeated()
            call.takes_every_kind_of_cotangent()
            call.shares_no_memory()
        call.leaves_nothing_behind()
        call.has_one_arity_for_all_options()
    except CheckError:
        raise
    except RuleError as error:
        raise CheckError(str(error)) from error
    return call.rule


class _Call:
    """One call of a function, and what its rule makes of it."""

    def __init__(
        self,
        f: Any,
        xs: tuple[Any, ...],
        options: dict[str, Any],
        ad: Any,
        tolerance: float | None,
        direction: Callable[[Any], Any] | None,
    ) -> None:
        self.f = f
        self.xs = xs
        self.options = options
        self.ad = ad
        self.direction = direction or (lambda v: v)
        self.generator = np.random.default_rng(20240727)
        found = min((_precision(leaf) for x in xs for _, leaf in leaves(x)), default=8)
        self.relative, self.absolute = _TOLERANCE[found]
        if tolerance is not None:
            self.relative = tolerance
        self.before = (_copied(xs), _random_states())

    # -- the rule and its value

    def finds_the_rule(self, plugin: str | None) -> None:
        rule = find_rule(self.f, *self.xs, ad=self.ad, **self.options)
        if rule is None:
            types = ", ".join(type(x).__name__ for x in self.xs)
            raise CheckError(
                f"no rule answers for {name_of(self.f)} of ({types})"
                + (f" with the options {', '.join(self.options)}" if self.options else "")
            )
        self.rule = rule
        self.ran = self.f if callable(self.f) else rule.primal
        if plugin is not None and rule.plugin != plugin:
            self.fail(f"it answers instead of a rule of {plugin}")

    def has_the_value(self) -> None:
        states = _random_states()
        primal = self.ran(*_copied(self.xs), **self.options)
        _restore(states)
        try:
            self.y, self.back = self.apply()
        except (CheckError, RuleError):
            raise
        except Exception as error:
            self.fail(f"the rule raises {type(error).__name__}: {error}", error)
        self.unchanged("the rule")
        if type(self.back) is not Pullback or self.back.rule is not self.rule:
            self.fail(f"another rule fired: {getattr(self.back, 'rule', self.back)}")
        problem = _unlike(self.y, primal, "")
        if problem:
            self.fail(f"the value differs from the function's: {problem}")
        moving = any(not _is_integer(leaf) for x in self.xs for _, leaf in leaves(x))
        dy = random_direction(self.y, self.generator, integers=not moving)
        self.dy = dy if any(True for _ in leaves(dy)) else None

    def pulls_none_to_none(self) -> None:
        if self.back(None) != (None,) * (len(self.xs) + 1):
            self.fail("`back(None)` is not all None")

    def passes_no_cotangent(self) -> None:
        if any(dx is not None for dx in self.pull(self.dy if self.dy is not None else 1.0)):
            self.fail("a constant passes a cotangent")

    # -- the cotangents

    def is_flat(self) -> None:
        """Check a call whose result is integers, or no number at all: nothing can pass."""
        dy = random_direction(self.y, self.generator)
        for name, dx in zip(self.names(), self.pull(dy), strict=True):
            if any(np.any(leaf) for _, leaf in leaves(dx)):
                self.fail(f"{name}: a cotangent passes, and the result is {_kind(self.y)}")

    def has_cotangents_of_the_kind(self) -> None:
        before = _copied(self.dy)
        self.cotangents = self.pull(self.dy)
        if _unlike(self.dy, before, ""):
            self.fail("the pullback changes `dy`")
        self.unchanged("the pullback")
        if len(self.cotangents) != len(self.xs) + 1:
            self.fail(f"{len(self.cotangents)} cotangents where {len(self.xs) + 1} were due")
        for name, x, dx in self.arguments():
            problem = _wrong_kind(dx, x, name)
            if problem:
                self.fail(problem)

    def agrees_with_differences(self) -> None:
        for position, (name, x, dx) in enumerate(self.arguments()):
            pattern = dx if isinstance(dx, Tangent) else x
            if self.is_option(position) or (dx is None and not _has_floats(x)):
                continue
            whole = self.direction(random_direction(_fields(x, pattern), self.generator))
            if whole is None:
                continue
            for part, v in _parts(whole, name):
                self.compare(position, part, dx, v)

    def compare(self, position: int, name: str, dx: Any, v: Any) -> None:
        given = inner(dx, v)
        try:
            found = derivatives(self.call, (self.f, *self.xs), position, v, self.dy)
        except Exception as error:
            if not any(not _is_integer(leaf) for _, leaf in leaves(self.xs[position - 1])):
                return  # who takes nothing but integers has no derivative to compare with
            self.fail(
                f"{name}: no finite differences, as the function raises "
                f"{type(error).__name__}: {error}",
                error,
            )
        scale = max(1.0, abs(inner(double(self.dy), double(self.y)) if is_number(self.y) else 1.0))
        if any(
            abs(d - given) <= self.relative * max(abs(d), abs(given)) + self.absolute * scale
            for d in found
        ):
            return
        best = min(found, key=lambda d: abs(d - given))
        self.fail(
            f"{name}: along a random direction the cotangent gives {given:.10g}, and finite "
            f"differences {best:.10g}{' (the cotangent is None)' if dx is None else ''}"
        )

    def is_linear(self) -> None:
        other = random_direction(self.dy, self.generator)
        dx_other = self.pull(other)
        combined = self.pull(_combine(2.0, self.dy, -3.0, other))
        for (name, _, dx), dz, found in zip(self.arguments(), dx_other, combined, strict=True):
            problem = _unequal(found, _combine(2.0, dx, -3.0, dz), self.relative, self.absolute)
            if problem:
                self.fail(f"{name}{problem}: the pullback is not linear in `dy`")

    def can_be_repeated(self) -> None:
        again = self.pull(self.dy)
        for (name, _, dx), found in zip(self.arguments(), again, strict=True):
            problem = _unequal(found, dx, 0.0, 0.0)
            if problem:
                self.fail(f"{name}{problem}: a second call of the pullback gives something else")
        kept = _copied(self.cotangents)
        for dx in again:
            for _, array in arrays(dx):
                if array.flags.writeable and not _shares(array, self.dy):
                    array[...] = 0 if array.dtype.kind == "O" else 77
        self.unchanged("who writes to a cotangent")
        for (name, _, _), dx, found in zip(self.arguments(), kept, self.pull(self.dy), strict=True):
            problem = _unequal(found, dx, 0.0, 0.0)
            if problem:
                self.fail(f"{name}{problem}: who writes to a cotangent changes the next one")

    def takes_every_kind_of_cotangent(self) -> None:
        for kind, change in _KINDS.items():
            dy = _changed(self.dy, change)
            if dy is None:
                continue
            exact = _changed(self.dy, partial(_settled, change))
            before = _copied(dy)
            found, expected = self.pull(dy, f"a {kind} `dy`"), self.pull(exact)
            if _unlike(dy, before, ""):
                self.fail(f"the pullback changes a {kind} `dy`")
            for (name, x, _), dx, dz in zip(self.arguments(), found, expected, strict=True):
                problem = _wrong_kind(dx, x, name)
                if problem:
                    self.fail(f"{problem}, for a {kind} `dy`")
                problem = _unequal(dx, dz, self.relative, self.absolute)
                if problem:
                    self.fail(f"{name}{problem}: a {kind} `dy` gives something else")
        self.takes_none_in_a_container()

    def takes_none_in_a_container(self) -> None:
        if not isinstance(self.dy, tuple) or is_number(self.y):
            return
        for i, (step, part) in enumerate(children(self.dy)):
            if part is None:
                continue
            entries = [entry for _, entry in children(self.dy)]
            without, zero = list(entries), list(entries)
            without[i], zero[i] = None, _combine(0.0, part, 0.0, part)
            found = self.pull(_like(self.dy, without), f"`dy{step}` of None")
            expected = self.pull(_like(self.dy, zero))
            for (name, _, _), dx, dz in zip(self.arguments(), found, expected, strict=True):
                if dx is None or dz is None:
                    continue
                problem = _unequal(dx, dz, self.relative, self.absolute)
                if problem:
                    self.fail(f"{name}{problem}: None in `dy{step}` is not taken as zero")

    def shares_no_memory(self) -> None:
        given = [(name + path, a) for name, _, dx in self.arguments() for path, a in arrays(dx)]
        for number, (name, array) in enumerate(given):
            for position, x in enumerate(self.xs):
                if _shares(array, x):
                    self.fail(f"{name}: the cotangent is memory of argument {position + 1}")
            if _shares(array, self.dy):
                continue
            if _shares(array, self.y):
                self.fail(f"{name}: the cotangent is memory of the result")
            for other, second in given[:number]:
                if np.shares_memory(array, second):
                    self.fail(f"{name}: the cotangent is memory of that of {other}")

    # -- what remains

    def leaves_nothing_behind(self) -> None:
        for generation in (0, 0, 2):  # a cycle is no leak; collecting all takes long
            _fill_free_lists()
            before = sys.getallocatedblocks()
            for _ in range(_CALLS):
                quietly(self.apply_and_pull)
            gc.collect(generation)
            if sys.getallocatedblocks() - before < _CALLS:
                break
        else:
            self.fail("each call keeps memory")
        self.unchanged("the rule")

    def has_one_arity_for_all_options(self) -> None:
        for left_out in self.options:
            options = {name: x for name, x in self.options.items() if name != left_out}
            try:
                y = quietly(partial(self.ran, *self.xs, **options))
                dy = random_direction(y, self.generator)
            except Exception:
                continue  # the option is not optional for these arguments
            found = rrule(self.f, *self.xs, ad=self.ad, **options)
            if found is None:
                self.fail(f"no rule answers without the option {left_out}")
            try:
                count = len(quietly(partial(found[1], dy)))
            except RuleError as error:
                raise CheckError(f"without the option {left_out}: {error}") from error
            except Exception:
                continue  # what the rule says of other arguments is their own check's business
            if count != len(self.xs) + 1:
                self.fail(f"the number of cotangents changes without the option {left_out}")

    # -- tools

    def apply(self) -> tuple[Any, Any]:
        options = dict(self.options)
        if self.rule.needs_ad:
            options["ad"] = self.ad
        found = rrule(self.f, *self.xs, **options)
        if found is None:
            self.fail("rrule does not find what find_rule finds")
        return found

    def apply_and_pull(self) -> None:
        _, back = self.apply()
        back(self.dy)

    def call(self, f: Any, *xs: Any) -> Any:
        ran = f if callable(f) else self.rule.primal
        return ran(*xs, **self.options)

    def pull(self, dy: Any, what: str = "`dy`") -> tuple[Any, ...]:
        try:
            found: tuple[Any, ...] = quietly(lambda: self.back(dy))
        except RuleError:
            raise
        except Exception as error:
            self.fail(f"the pullback of {what} raises {type(error).__name__}: {error}", error)
        return found

    def arguments(self) -> list[tuple[str, Any, Any]]:
        return list(zip(self.names(), (self.f, *self.xs), self.cotangents, strict=True))

    def names(self) -> list[str]:
        return ["self", *(f"argument {i + 1}" for i in range(len(self.xs)))]

    def is_option(self, position: int) -> bool:
        if self.rule.varargs is not None or self.rule.kind == "scalar":
            return False
        return position > len(self.rule.types) - (self.rule.kind == "instance")

    def unchanged(self, who: str) -> None:
        before, states = self.before
        for i, (x, copied) in enumerate(zip(self.xs, before, strict=True)):
            problem = _unlike(x, copied, "")
            if problem:
                self.fail(f"{who} changes argument {i + 1}: {problem}")
        if not _same_states(states, _random_states()):
            self.fail(f"{who} uses the global random state")

    def fail(self, message: str, cause: BaseException | None = None) -> NoReturn:
        raise CheckError(f"{self.rule.signature} ({self.rule.place}): {message}") from cause


def _ad(f: Any, /, *xs: Any, **options: Any) -> tuple[Any, Any]:
    """Differentiate by rule, or by finite differences where there is none."""
    found = rrule(f, *xs, ad=_ad, **options)
    return found if found is not None else _numerical(f, xs, options)


def _numerical(f: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    def pullback(dy: Any) -> tuple[Any, ...]:
        def gradient(position: int, x: Any) -> Any:
            if not is_number(x) or _is_integer(x):
                return None
            dx = np.zeros(np.shape(x), np.result_type(x))
            units = (1.0, 1j) if np.iscomplexobj(dx) else (1.0,)
            for index in np.ndindex(dx.shape):
                for unit in units:
                    v = np.zeros_like(dx)
                    v[index] = unit
                    found = derivatives(
                        lambda *xs: f(*xs, **options), xs, position, v if dx.ndim else v[()], dy
                    )
                    dx[index] += unit * found[0]
            return dx if isinstance(x, np.ndarray) else type(x)(dx[()])

        return None, *(gradient(i, x) for i, x in enumerate(xs))

    return f(*xs, **options), pullback


# -- comparing ---------------------------------------------------------------------------------


def _precision(x: Any) -> int:
    """Return the bytes of one real number of the value: 8 for Python's own."""
    dtype = np.asarray(x).dtype
    if dtype.kind not in "fc":
        return 8
    return min(8, dtype.itemsize // (2 if dtype.kind == "c" else 1))


def _is_integer(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "iu"


def _has_floats(x: Any) -> bool:
    return any(not _is_integer(leaf) for _, leaf in leaves(x))


def _kind(x: Any) -> str:
    if isinstance(x, np.ndarray | np.generic):
        return f"{type(x).__name__} of {x.dtype}{list(x.shape)}"
    return type(x).__name__


def _wrong_kind(dx: Any, x: Any, name: str) -> str:
    """Tell how the kind of a cotangent differs from that of its primal, or return nothing."""
    if dx is None:
        return ""
    told = f"{name}: the cotangent is {_kind(dx)}, and the argument {_kind(x)}"
    if isinstance(x, np.ndarray | np.generic):
        if x.dtype.kind == "O":
            return "" if np.shape(dx) == x.shape else told
        if not is_number(x):
            return f"{told}: None is due"
        if isinstance(x, np.ndarray) is not isinstance(dx, np.ndarray) or not is_number(dx):
            return told
        dtype = getattr(dx, "dtype", None)
        right = (
            dtype == x.dtype if x.dtype.kind in "fc" else dtype is not None and dtype.kind == "f"
        )
        return "" if right and np.shape(dx) == x.shape else told
    if is_number(x):
        due = complex if isinstance(x, complex) else float
        return "" if isinstance(dx, due) else told
    if isinstance(x, bool | str | bytes):
        return f"{told}: None is due"
    if isinstance(dx, Tangent):
        fields = [(step, entry, getattr(x, step[1:], None)) for step, entry in children(dx)]
    elif isinstance(x, list | tuple):
        if not isinstance(dx, list if isinstance(x, list) else tuple) or len(dx) != len(x):
            return told
        pairs = zip(children(x), children(list(dx)), strict=True)
        fields = [(step, entry, primal) for (step, primal), (_, entry) in pairs]
    elif isinstance(x, dict):
        if not isinstance(dx, dict) or not dx.keys() <= x.keys():
            return told
        fields = [(f"[{key!r}]", entry, x[key]) for key, entry in dx.items()]
    else:
        return ""
    return next(filter(None, (_wrong_kind(d, primal, name + s) for s, d, primal in fields)), "")


def _unlike(a: Any, b: Any, path: str) -> str:
    """Tell where two values differ in type, shape or number, or return nothing."""
    a, b = plain(a), plain(b)
    where = f"{path}: " if path else ""
    if type(a) is not type(b):
        return f"{where}{_kind(a)} and {_kind(b)}"
    if isinstance(a, np.ndarray | np.generic):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{where}{_kind(a)} and {_kind(b)}"
        if a.dtype.kind not in "fc":
            same = bool(np.all(a == b)) if a.dtype.names is None else True
        else:
            tolerance = 64 * float(np.finfo(a.dtype).eps)
            scale = np.max(np.abs(b), initial=0, where=np.isfinite(b))
            same = np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
        return "" if same else f"{where}{a} and {b}"
    if isinstance(a, float | complex):
        return "" if np.isclose(a, b, rtol=1e-13, atol=0, equal_nan=True) else f"{where}{a} and {b}"
    if isinstance(a, int | str | bytes):
        return "" if a == b else f"{where}{a!r} and {b!r}"
    mine, theirs = children(a), children(b)
    if [step for step, _ in mine] != [step for step, _ in theirs]:
        return f"{where}{len(mine)} and {len(theirs)} entries"
    pairs = zip(mine, theirs, strict=True)
    return next(filter(None, (_unlike(x, y, path + s) for (s, x), (_, y) in pairs)), "")


def _unequal(a: Any, b: Any, relative: float, absolute: float) -> str:
    """Return the path at which two cotangents differ, or nothing where they agree."""
    if a is None or b is None:
        return "" if a is b else " (None)"
    if is_number(a) and is_number(b):
        scale = np.max(np.abs(b), initial=0, where=np.isfinite(b))
        off = relative * scale + absolute
        same = np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0, atol=off, equal_nan=True)
        return "" if same else " "
    mine, theirs = children(a), children(b)
    if len(mine) != len(theirs):
        return " "
    found = (
        (step, _unequal(x, y, relative, absolute))
        for (step, x), (_, y) in zip(mine, theirs, strict=True)
    )
    return next((step + deeper.strip() for step, deeper in found if deeper), "")


def _combine(p: float, a: Any, q: float, b: Any) -> Any:
    """Return `p * a + q * b`, of the kind of `a`."""
    if a is None or b is None:
        return None
    if isinstance(a, np.ndarray):
        return np.asarray(p * a + q * b, dtype=a.dtype)
    if is_number(a):
        return type(a)(p * a + q * b)
    others = iter([entry for _, entry in children(b)])
    return rebuild(a, lambda entry: _combine(p, entry, q, next(others)))


def _like(x: Any, entries: list[Any]) -> Any:
    return type(x)(*entries) if hasattr(x, "_fields") else type(x)(entries)


# -- directions and cotangents of several kinds ------------------------------------------------


def _fields(x: Any, pattern: Any) -> Any:
    if not isinstance(pattern, Tangent):
        return x
    return Tangent(type(x), **{name: getattr(x, name) for name in pattern})


def _parts(v: Any, name: str) -> list[tuple[str, Any]]:
    """Return the direction leaf by leaf, complex ones in real and imaginary parts."""
    if v is None:
        return []
    if is_number(v):
        if not np.iscomplexobj(v):
            return [(name, v)]
        return [(f"{name} (real part)", v.real + 0 * v), (f"{name} (imaginary part)", 1j * v.imag)]
    found: list[tuple[str, Any]] = []
    for i, (step, entry) in enumerate(children(v)):
        for part, moving in _parts(entry, name + step):
            found.append((part, _only(v, i, moving)))
    return found


def _only(v: Any, position: int, moving: Any) -> Any:
    places = iter(range(len(children(v))))
    return rebuild(v, lambda _: moving if next(places) == position else None)


def _changed(dy: Any, change: Callable[[Any], Any]) -> Any:
    """Return `dy` with its arrays changed, or `None` where there is nothing to change."""
    if dy is None or is_number(dy):
        return None if dy is None else change(dy)
    changed = rebuild(dy, lambda entry: _or(_changed(entry, change), entry))
    return changed if any(True for _ in leaves(changed)) else None


def _or(a: Any, b: Any) -> Any:
    return b if a is None else a


def _settled(change: Callable[[Any], Any], dy: Any) -> Any:
    """Return the numbers of the changed cotangent in the kind of the first."""
    changed = change(dy)
    if changed is None:
        return dy
    if isinstance(dy, np.ndarray):
        return np.array(changed, dtype=dy.dtype, order="C")
    return type(dy)(changed)


def _strided(dy: Any) -> Any:
    if not isinstance(dy, np.ndarray) or not dy.ndim:
        return None
    wide = np.zeros((*dy.shape[:-1], 2 * dy.shape[-1]), dy.dtype)
    wide[..., ::-2] = dy
    return wide[..., ::-2]


def _fortran(dy: Any) -> Any:
    return np.asfortranarray(dy) if isinstance(dy, np.ndarray) and dy.ndim > 1 else None


def _read_only(dy: Any) -> Any:
    if not isinstance(dy, np.ndarray):
        return None
    frozen = dy.copy()
    frozen.flags.writeable = False
    return frozen


def _broadcast(dy: Any) -> Any:
    if not isinstance(dy, np.ndarray) or not dy.size:
        return None
    return np.broadcast_to(dy.flat[0], dy.shape)


def _zero_dimensional(dy: Any) -> Any:
    return np.array(dy) if np.ndim(dy) == 0 else None


def _numpy_scalar(dy: Any) -> Any:
    return np.array(dy)[()] if np.ndim(dy) == 0 else None


_KINDS: dict[str, Callable[[Any], Any]] = {
    "0-d": _zero_dimensional,
    "NumPy scalar": _numpy_scalar,
    "strided": _strided,
    "Fortran-ordered": _fortran,
    "read-only": _read_only,
    "broadcast": _broadcast,
}


# -- memory and random states ------------------------------------------------------------------


def _fill_free_lists() -> None:
    """Let Python keep as many freed small objects as it will, so that it keeps no more later."""
    made: list[Any] = [(number,) * size for size in range(1, 9) for number in range(2000)]
    made += [[float(number), {}] for number in range(200)]
    del made


def _shares(array: np.ndarray, x: Any) -> bool:
    held = x.base if isinstance(x, np.flatiter) else x
    return any(np.shares_memory(array, other) for _, other in arrays(held))


def _copied(x: Any) -> Any:
    if isinstance(x, np.flatiter):
        return x.base.copy().flat
    if isinstance(x, np.ndarray):
        return x.copy(order="K")
    return rebuild(x, _copied) if children(x) else copy.deepcopy(x)


def _random_states() -> tuple[Any, Any]:
    return np.random.get_state(legacy=False), random.getstate()


def _restore(states: tuple[Any, Any]) -> None:
    np.random.set_state(states[0])
    random.setstate(states[1])


def _same_states(a: tuple[Any, Any], b: tuple[Any, Any]) -> bool:
    mine, theirs = a[0]["state"], b[0]["state"]
    return bool(
        np.array_equal(mine["key"], theirs["key"]) and mine["pos"] == theirs["pos"] and a[1] == b[1]
    )
