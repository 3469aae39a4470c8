"""Who differentiates an exported function: the rules, an AD as rules are handed one, or an engine.

An AD may have a `Differentiator` of its own. This one asks the rules first.
"""

import builtins
import contextlib
import functools
import inspect
import random
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from rulescore._errors import Fault, RuleError
from rulescore._forward import frule
from rulescore._naming import describe, name_of
from rulescore._rule import Pullback
from rulescore._table.resolution import rrule
from rulescore._table.table import rules_of
from rulescore.faults import an
from rulescore.interop._trees import Place, constants, entry_at

Pull = Callable[[Any], Sequence[Any]]
Back = Callable[[Any], tuple[Any, ...]]
FunctionAndCall = tuple[Any, tuple[Any, ...], dict[str, Any]]
AD = Callable[..., tuple[Any, Callable[[Any], tuple[Any, ...]]]]
Watch = Callable[[Any], contextlib.AbstractContextManager[Any]]
_CALLED = (print, input, open)
_ACTING = ("random", "time", "secrets", "os", "sys", "numpy.random")
_HOLDERS = (np.random.Generator, np.random.RandomState, random.Random)


class Differentiator:
    """Differentiate functions for a host. An AD may have one of its own; this one asks the rules.

    Arguments:
        ad: an AD, as rules are handed one: `ad(f, *xs) -> (y, back)`, where `back(dy)` returns
            `(∂self, ∂x1, ..., ∂xn)`. It differentiates functions without a rule, and what is
            differentiated again. Without it only functions with a rule are differentiated, once.
    """

    def __init__(self, ad: AD | None = None) -> None:
        self.ad = ad

    def pull(
        self, f: Any, xs: tuple[Any, ...], options: dict[str, Any], needed: Sequence[bool]
    ) -> tuple[Any, Back, int]:
        """Return `f(*xs, **options)`, its pullback, and where the cotangents of `xs` begin.

        Arguments:
            f: the function.
            xs: its arguments.
            options: its keyword arguments, which have no cotangents.
            needed: for each argument whether its cotangent is asked for.

        The pullback gives a tuple: from that place on, one cotangent or `None` for each argument.
        """
        found: Any
        if self.ad is None and not options:
            found = rrule(f, *xs)
        else:
            found = rrule(f, *xs, ad=self.ad, **options)
        if found is None:
            if self.ad is None:
                raise without_rule(f, xs)
            y, back = self.ad(functools.partial(f, **options) if options else f, *xs)
            found = y, self.checked(f, back)
        y, back = found
        # `args[0]` is its `rule`, without the call of the property
        if type(back) is Pullback and (False in needed or back.args[0].refuses):
            back = back.only((False, *needed))
        return y, back, 1

    def push(
        self, f: Any, xs: tuple[Any, ...], dxs: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Return `f(*xs, **options)` and its tangent in the direction of those of the arguments."""
        found = frule((None, *dxs), f, *xs, **options)
        if found is None:
            of_derivative = getattr(f, "derivative_of", None)
            if of_derivative:
                raise no_tangent_twice(of_derivative)
            raise Fault.EXPORT(
                f"{name_of(f)} has no forward rule for these types of arguments: "
                "declare one, or export it by `zygote_lite.interop`"
            )
        return found

    def pulled(
        self, f: Any, options: dict[str, Any], places: Sequence[Place | None]
    ) -> Callable[..., Any] | None:
        """Return the function of `(*xs, dy)` that gives the cotangents, to be differentiated.

        Arguments:
            f, options: the function and its keyword arguments.
            places: of each leaf of the arguments, the position of the argument and the keys that
                lead from there to the leaf; `None` where its cotangent is not wanted.

        It returns a tuple with the cotangent of each leaf, or `None`. It is `None` itself where
        nobody differentiates it.
        """
        ad = self.ad
        if ad is None:
            return None
        if options:
            f = functools.partial(f, **options)

        def pulled(*operands: Any) -> Any:
            _, back = ad(f, *operands[:-1])
            found = back(operands[-1])
            return tuple(
                [None if at is None else entry_at(found[1 + at[0]], at[1]) for at in places]
            )

        pulled.__dict__["derivative_of"] = name_of(f)
        return pulled

    def pushed(
        self, f: Any, options: dict[str, Any], count: int, places: Sequence[Place]
    ) -> Callable[..., Any] | None:
        """Return the function of `(*xs, *dxs)` that gives the tangent, to be differentiated.

        Arguments:
            f, options: the function and its keyword arguments.
            count: the number of arguments.
            places: of each leaf of the value, the keys that lead there, behind a 0.

        It returns a tuple with the tangent of each leaf. It is `None` where nobody differentiates
        it.
        """
        return None

    def with_keywords(
        self, f: Any, xs: tuple[Any, ...], options: dict[str, Any], is_leaf: Any, constant: Any
    ) -> FunctionAndCall:
        """Return a call in which no leaf is among the options.

        Arguments:
            f, xs, options: the call.
            is_leaf: whether a value is a leaf.
            constant: makes a constant of a leaf, by the name of the option. Raises where it may
                have a gradient: what is given by keyword is an option of a rule.
        """
        return f, xs, {name: constants(name, x, is_leaf, constant) for name, x in options.items()}

    def knows(self, f: Any) -> bool:
        """Return whether a function can be exported, for some types of arguments."""
        return any(rule.kind not in ("forward", "batched") for rule in rules_of(f))

    def repeatable(self, f: Any, why: str) -> Watch:
        """Return what watches calls of a function that may be repeated, or left out.

        Arguments:
            f: the function.
            why: why a host does so, in words.

        It takes the structure of the arguments, and returns a context for the call, which raises
        `TypeError` if that has changed variables around it. Raises `TypeError` itself where the
        function is known to have effects. An AD with an attribute `repeatable` is asked about a
        function without a rule: that takes the function, and what makes an error of an effect.
        """
        effect = self.effect(f)
        if effect is not None:
            raise Fault.HOST_RUN.of(TypeError, effectful(f, effect, why))
        repeatable = getattr(self.ad, "repeatable", None)  # that of an AD which can tell more
        if repeatable is None or Differentiator.knows(self, f):
            return contextlib.nullcontext
        watch: Watch = repeatable(
            f, lambda effect: Fault.HOST_RUN.of(TypeError, effectful(f, effect, why))
        )
        return watch

    def checked(self, f: Any, back: Any) -> Any:
        """Return a pullback that raises where an array around its function has been written."""
        written = self.written(f)
        return back if written is None else Checked(f, back, written)

    def written(self, f: Any) -> Callable[[], bool] | None:
        """Return what tells whether an array around a function has been written meanwhile.

        It is `None` where there is none. An AD with an attribute `writes_around` is asked about a
        function without a rule.
        """
        found: Callable[[], bool] | None = self._told("writes_around", f)
        return found

    def stamp(self, f: Any) -> int | None:
        """Return a checksum, of 32 bits, of the arrays around a function; `None` if it has none.

        An AD with an attribute `stamp_around` is asked about a function without a rule.
        """
        found: int | None = self._told("stamp_around", f)
        return found

    def _told(self, name: str, f: Any) -> Any:
        """Return what an AD says of a function, if it says that; a rule is what its author says."""
        if self.ad is None:
            return None
        asked = getattr(self.ad, name, None)
        return None if asked is None or Differentiator.knows(self, f) else asked(f)

    def effect(self, f: Any) -> str | None:
        """Return the effect that calling a function may have, in words, or `None`."""
        for x in [f] if self.knows(f) else [f, *_named_by(f)]:
            owner = getattr(x, "__self__", None)
            module = getattr(x, "__module__", None) or getattr(owner, "__name__", None)
            if isinstance(x, _HOLDERS):
                return f"it reads {an(type(x).__name__)}"
            if isinstance(owner, _HOLDERS) or module in _ACTING or any(x is g for g in _CALLED):
                return "it reads, writes or draws" if x is f else f"it calls `{name_of(x)}`"
        return None


class Checked:
    """A pullback that is refused where an array around its function has been written meanwhile.

    Arguments:
        f: the function.
        back: its pullback.
        written: tells whether such an array has been written since the function was run.
    """

    def __init__(self, f: Any, back: Back, written: Callable[[], bool]) -> None:
        self.f, self.back, self.written = f, back, written

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        """Return the cotangents."""
        if self.written():
            raise overwritten(self.f)
        return self.back(dy)


def _named_by(f: Any) -> list[Any]:
    """Return what the code of a function names, in modules too, and captures."""
    if not isinstance(f, FunctionType):
        return []
    names = {*f.__code__.co_names}
    found = [f.__globals__.get(name, getattr(builtins, name, None)) for name in names]
    for x in found:  # to which are added, as behind `np` is `np.random`
        if isinstance(x, ModuleType):
            held = [vars(x)[name] for name in names & vars(x).keys()]
            found += [y for y in held if not any(y is z for z in found)]
    return [*found, *inspect.getclosurevars(f).nonlocals.values()]


def effectful(f: Any, effect: str, why: str) -> str:
    """Return the words for a function with an effect, whose calls a host repeats."""
    return (
        f"{name_of(f)} has effects: {effect}. {why}: do that outside of it, and pass what it gives "
        "as an argument"
    )


def no_tangent_twice(name: str) -> RuleError:
    """Return the error for a tangent beside another derivative, which rules do not give."""
    return Fault.EXPORT(
        f"a rule and `ad=` give no tangent of a derivative of {name}, and no derivative of its "
        "tangent: use reverse mode twice, as `torch.func.jacrev` or `jax.jacrev`, or export it by "
        "`zygote_lite.interop`"
    )


def overwritten(f: Any) -> TypeError:
    """Return the error for a function around which an array has changed since it was called."""
    return Fault.HOST_RUN.of(
        TypeError,
        f"an array that {name_of(f)} reads has been overwritten since it was called, "
        "so its gradient would be of other numbers: pass it as an argument, or a copy",
    )


def without_rule(f: Any, xs: tuple[Any, ...]) -> RuleError:
    """Return the error for a function that nobody has a rule for."""
    types = ", ".join(describe(x) for x in xs)
    return Fault.EXPORT(
        f"nobody has a rule for {name_of(f)} of ({types}): declare one, or export the function by "
        "`zygote_lite.interop`, which differentiates its source"
    )
