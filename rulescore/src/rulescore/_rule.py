"""A rule: the types it is for, the body that applies it, and where it was written."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MethodDescriptorType
from typing import Any

import numpy as np
from numpy import ndarray

from rulescore._array import method_of_any_array
from rulescore._errors import Fault, RuleError
from rulescore._naming import attribute, describe, name_of, type_name
from rulescore._origin import Origin
from rulescore._project import fits
from rulescore.faults import counted
from rulescore.watching import watched

_OF_UFUNCS = frozenset({"dtype", "order", "subok"})
_NO_VALUE = np._NoValue


class Rule:
    """Hold one rule of one rule set.

    Attributes:
        function: the primal function, or the type of the callable objects that it is for; also an
            attribute such as `np.ndarray.T`, a function of the object that it is read from.
        kind: "scalar", "general", "linear", "constant", "opted out", "instance", "forward" or
            "batched".
        types: annotations of the positional arguments, the pattern that is dispatched on.
        varargs: annotation of further positional arguments, or `None` where there are none.
        body: what the rule's author wrote.
        optional: annotations of the positional parameters with a default, which are options.
        optional_names: their names, `None` for one that has no name to the caller.
        options: names that may be given by keyword; `None` where any may.
        needs_ad: whether the body is to be given the AD, because it is for a function that takes
            functions.
        poles: whether the partial derivatives of a scalar rule need care; found at first use.
        chooses: whether a partial derivative of zero is a strong zero: the function chooses.
        takes_out: whether they are given the output of the function.
        partials: of a scalar rule that has a function for each partial derivative: these; else
            `None`.
        linear: of a linear rule the positions of the arguments in which the function is linear.
        shifts: of a linear rule the names of the options that add a constant to its value.
        may_raise: whether its rule set says that pullbacks may raise.
        refuses: by position, the name of each argument without a known derivative, and why.
        by_position: a function that takes the options by position, whose rule answers where one
            of them is differentiated; or `None`.
        names: what tells the further parameters of a function of `*args` and `**kwargs`, by its
            first arguments; or `None`.
        plugin: the name of the rule set.
        file, line: where the body was written.
        origin: where the rule was declared.
        of_plugin: whether a plugin has brought it, also where its rule set was registered again.
        watches: whether calls that change their arguments are refused: those of rules by no plugin.
            Those of constants are refused by an AD, which knows what is differentiated.
    """

    __slots__ = (
        "body", "by_position", "chooses", "due", "file", "function", "kind", "known", "line",
        "linear", "look_for_poles", "may_raise", "names", "needs_ad", "of_plugin", "optional",
        "optional_names", "options", "origin", "partials", "plugin", "poles", "primal", "refuses",
        "reverse", "shifts", "takes_out", "types", "varargs", "watches",
    )  # fmt: skip

    def __init__(
        self,
        function: Any,
        kind: str,
        types: tuple[Any, ...],
        varargs: Any,
        body: Any,
        plugin: str,
        file: str,
        line: int,
        *,
        origin: Origin,
        optional: tuple[Any, ...] = (),
        optional_names: tuple[str | None, ...] = (),
        options: frozenset[str] | None = frozenset(),
        needs_ad: bool = False,
        poles: bool | Callable[[], bool] = True,
        chooses: bool = False,
        takes_out: bool = False,
        partials: tuple[Callable[..., Any], ...] | None = None,
        linear: tuple[int, ...] = (),
        shifts: frozenset[str] = frozenset(),
        may_raise: bool = False,
        refuses: dict[int, tuple[str, str]] | None = None,
        by_position: Callable[..., Any] | None = None,
        names: Callable[..., Mapping[str, Any]] | None = None,
        reverse: Callable[..., tuple[Any, ...]],
    ) -> None:
        self.function = function
        self.primal: Callable[..., Any] = function if callable(function) else function.__get__
        if kind == "linear" and type(function) is MethodDescriptorType:
            self.primal = method_of_any_array(function)
        self.kind = kind
        self.types = types
        self.varargs = varargs
        self.body = body
        self.plugin = plugin
        self.file = file
        self.line = line
        self.origin = origin
        self.optional = optional
        self.optional_names = optional_names
        # the ufuncs of NumPy let one choose the precision that they compute in
        self.options = (
            _OF_UFUNCS if kind == "scalar" and isinstance(function, np.ufunc) else options
        )
        self.needs_ad = needs_ad
        if callable(poles):
            self.look_for_poles = poles
        else:
            self.poles = poles
        self.chooses = chooses
        self.takes_out = takes_out
        self.partials = partials
        self.linear = linear
        self.shifts = shifts
        self.may_raise = may_raise
        # how many cotangents the pullback of the body has to give, `None` for one per argument
        self.due = len(types) if varargs is None else None
        self.refuses = refuses or {}
        self.by_position = by_position
        self.names = names
        self.watches = self.of_plugin = False
        # what a `Pullback` of this rule calls, with what the forward call saved
        self.known = reverse
        self.reverse = refusing(reverse) if self.refuses else reverse

    def __getattr__(self, name: str) -> Any:
        if name != "poles":
            raise AttributeError(f"a rule has no {name!r}")
        self.poles = self.look_for_poles()
        return self.poles

    def __call__(self, f: Any, /, *xs: Any, **options: Any) -> tuple[Any, "Pullback"]:
        """Apply the rule: return the value of `f(*xs, **options)` and its pullback."""
        if options:
            options = those_given(options)
        if self.kind == "scalar":
            y = self.primal(*xs, **options)
            return y, Pullback(self.reverse, self, y if self.takes_out else None, f, xs)
        if self.kind == "linear":
            y = (
                watched(self, self.primal, xs, options)
                if self.watches
                else self.primal(*xs, **options)
            )
            return y, Pullback(self.reverse, self, options, f, xs)
        if self.kind == "constant":
            return self.primal(*xs, **options), Pullback(self.reverse, self, None, f, xs)
        if self.watches:
            return self.answer(watched(self, self.body, xs, options), f, xs)
        operands = (f, *xs) if self.kind == "instance" else xs
        return self.answer(self.body(*operands, **options), f, xs)

    def answer(self, given: Any, f: Any, xs: tuple[Any, ...]) -> tuple[Any, "Pullback"]:
        """Return the value and the pullback of a call, from what the body returned for it."""
        if type(given) is tuple and len(given) == 2:
            y, back = given
            if back is None or type(back) is tuple or callable(back):
                return y, Pullback(self.reverse, self, back, f, xs)
        raise Fault.VALUE(
            f"the rule {self.signature} ({self.place}) returned {describe(given)}: "
            "return the value and the pullback"
        )

    def misfit(self, cotangents: Any, primals: tuple[Any, ...]) -> RuleError | None:
        """Return the error if what the pullback of the body gave does not fit the arguments."""
        due = len(primals) if self.due is None else self.due
        if type(cotangents) is not tuple or len(cotangents) != due:
            return _not_due(self, cotangents, due)
        for position, dx in enumerate(cotangents):
            x = primals[position]
            if type(dx) is ndarray is type(x):
                if dx.shape != x.shape:
                    return _not_fitting(self, dx, x, position + 1)
            elif dx is not None and not fits(dx, x):
                return _not_fitting(self, dx, x, position + 1)
        return None

    def takes(self, count: int, options: dict[str, Any]) -> bool:
        """Return whether the rule knows all options, none of them among the `count` arguments."""
        if self.options is None:
            return True
        if not self.options.issuperset(options):
            return False
        if count > len(self.types):
            for name in self.optional_names[: count - len(self.types)]:
                if name in options:
                    return False
        return True

    def takes_batch(self, position: int) -> bool:
        """Return whether the argument at a position of a batching rule may be a batch."""
        annotation = self.types[position] if position < len(self.types) else self.varargs
        return annotation is not None and annotation is not Any

    def refusal(self, position: int, instead: str = "") -> str:
        """Return the message for a derivative that is asked for and not known.

        Arguments:
            position: that of the argument.
            instead: what to do.
        """
        name, reason = self.refuses[position]
        known = f"{name_of(self.function)} has no derivative by `{name}`: {reason}"
        return f"{known}; {instead}, or declare a rule of your own" if instead else known

    @property
    def signature(self) -> str:
        """Return the rule's pattern as text, such as `numpy.matmul(ndarray, ndarray)`."""
        types = [type_name(t) for t in self.types]
        if self.varargs is not None:
            types.append("*" + type_name(self.varargs))
        return f"{name_of(self.function)}({', '.join(types)})"

    @property
    def place(self) -> str:
        """Return where the rule was written, such as `rules_base, .../_arithmetic.py:12`."""
        return f"{self.plugin}, {self.file}:{self.line}"

    def __repr__(self) -> str:
        return f"<{self.kind} rule {self.signature} from {self.place}>"


def those_given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options less those that NumPy's own functions hand on as "no value"."""
    for given in options.values():
        if given is _NO_VALUE:
            return {name: x for name, x in options.items() if x is not _NO_VALUE}
    return options


class Pullback(partial[tuple[Any, ...]]):
    """Map the cotangent of a rule's result to those of the function and its arguments.

    `back(dy)` gives `(∂self, ∂x1, ..., ∂xn)`, `None` for "no gradient"; `back(None)` is all
    `None`. It may be called again and again. Raises `RuleError` where the rule's own pullback
    breaks the contract. `only` gives the pullback of some arguments, for an AD that knows which
    it needs.
    """

    # A partial of `rule.reverse`, because making one costs half as much as any other object.
    __slots__ = ()

    @property
    def rule(self) -> Rule:
        """Return the rule that this pullback is of."""
        rule: Rule = self.args[0]
        return rule

    def only(self, needed: Sequence[Any]) -> "Pullback":
        """Return the pullback that computes the cotangents that are needed, as far as it can.

        Arguments:
            needed: for the function and for each argument, whether its cotangent is needed.

        It gives the same values as this one there, and elsewhere `None`. Where the rule computes
        all cotangents at once it is this one, which gives them all.
        """
        rule, saved = self.args[:2]
        if rule.kind == "scalar":
            parts: tuple[Any, ...] = self.args[3]
        elif type(saved) is tuple:
            parts = saved[1] if len(saved) == 2 and type(saved[1]) is tuple else saved
        elif rule.refuses:
            parts = self.args[3]
        else:
            return self
        first = 0 if rule.kind == "instance" else 1
        known = all(n or p is None for n, p in zip(needed[first:], parts, strict=False))
        if known and not rule.refuses:
            return self
        reverse = rule.reverse
        if rule.refuses and not any(needed[position + 1] for position in rule.refuses):
            reverse = rule.known
            if rule.kind == "scalar":  # what it refuses is `None` among its partial derivatives
                apart = (rule.partials is not None or len(parts) > 2) or any(
                    not n and i - 1 not in rule.refuses for i, n in enumerate(needed) if i
                )
            else:
                apart = not known
            if not apart:
                return Pullback(reverse, *self.args)
        return Pullback(reverse, *self.args, needed=tuple(needed))

    def __repr__(self) -> str:
        function = self.args[2]
        return f"∂({attribute(function, '__name__') or type(function).__qualname__})"


def refusing(reverse: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Return what a `Pullback` calls for a rule that refuses derivatives by some arguments."""

    def pull(
        rule: Rule,
        saved: Any,
        function: Any,
        xs: tuple[Any, ...],
        dy: Any,
        /,
        needed: tuple[Any, ...] | None = None,
    ) -> tuple[Any, ...]:
        if dy is not None:
            for position in rule.refuses:
                # where all are asked for, an integer is a choice, such as an order
                if not _is_integer(xs[position]) if needed is None else needed[position + 1]:
                    raise Fault.UNKNOWN_DERIVATIVE(rule.refusal(position, "do not ask for it"))
        return reverse(rule, saved, function, xs, dy, needed)

    return pull


def _is_integer(x: Any) -> bool:
    return isinstance(x, int) or getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u", "b")


def _not_fitting(rule: Rule, dx: Any, x: Any, position: int) -> RuleError:
    if rule.kind == "instance":
        position -= 1
    return Fault.COTANGENT(
        f"the pullback of {rule.signature} ({rule.place}) returned a cotangent of "
        f"{describe(dx)} for argument {position}, which is {describe(x)}: return one of its shape "
        "and structure, or `None`"
    )


def _not_due(rule: Rule, cotangents: Any, due: int) -> RuleError:
    returned = f"the pullback of {rule.signature} ({rule.place}) returned"
    if type(cotangents) is not tuple:
        wanted = "return a tuple, one cotangent per argument"
        return Fault.COUNT(f"{returned} {describe(cotangents)}: {wanted}")
    number, were = len(cotangents), "were" if due != 1 else "was"
    extra = number == due + 1 and rule.kind != "instance" and cotangents[0] is None
    no_more = ", and none for the function itself" if extra else ""
    return Fault.COUNT(
        f"{returned} {counted(number, 'cotangent')} where {due} {were} due: return one for each "
        f"argument{no_more}"
    )
