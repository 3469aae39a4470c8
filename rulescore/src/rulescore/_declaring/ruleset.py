"""Declaring rules: a `RuleSet` collects them as data, and registers them when it is told to."""

import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any, TypeVar

from rulescore._array import Numeric
from rulescore._declaring.declaration import Declaration, is_being_made
from rulescore._declaring.examples import Example, Examples
from rulescore._declaring.made import rules_for, rules_of_body
from rulescore._declaring.parameters import POSITIONAL, parameters_of
from rulescore._declaring.poles import may_have_poles
from rulescore._declaring.refusals import Refusals
from rulescore._errors import Fault, entry
from rulescore._methods import flatten
from rulescore._naming import name_of
from rulescore._origin import Origin
from rulescore._partials import together_of
from rulescore._project import project, zero
from rulescore._rule import Rule
from rulescore._scalar import pull_chosen, pull_scalar
from rulescore._table import changes
from rulescore._tangent import accumulate
from rulescore.faults import counted

Body = TypeVar("Body", bound=Callable[..., Any])


class RuleSet:
    """Collect the rules of one plugin.

    Arguments:
        name: the name of the plugin, which stands in every message about one of its rules.
        examples: the name of a module that records examples by `example`, unless they stand beside
            the rules. It is imported only when the examples are asked for, and never by a program
            that only differentiates.
        may_raise: whether the pullbacks of these rules may raise an error, as for a singular matrix
            or an integral that does not converge. Then an AD keeps the line of each call, and the
            error names it; `False` saves that time.

    Declare rules by calling the rule set, or by `scalar`, `linear`, `of_instances` and `constant`;
    declare forward rules by `forward`, and batching rules by `batched`. Rules take effect when the
    hook of a plugin returns the set, or at `register()`. A rule that is declared on a registered
    set takes effect from the next call on. A declaration that runs again, as in a cell of a
    notebook, replaces the earlier one. A wrong declaration raises `RuleError`, and declares
    nothing.
    """

    def __init__(self, name: str, *, examples: str | None = None, may_raise: bool = True) -> None:
        self.name = name
        self.may_raise = may_raise
        self.rules: list[Rule] = []
        self.reasons: dict[str, str] = {}
        self.origin = Origin(sys._getframe(1))
        self._refuse = Refusals(name)
        self._waiting: list[Declaration] = []  # for their bodies
        self._examples = Examples(examples)

    @property
    def examples(self) -> list[Example]:
        """Return the recorded calls as (function, arguments, options).

        This imports the module of examples, if there is one. If the import fails, its error is
        raised at each attempt.
        """
        return self._examples.all()

    @entry
    def scalar(
        self,
        *functions: Any,
        poles: bool | None = None,
        chooses: bool = False,
        refuses: Mapping[str, str] | None = None,
    ) -> Callable[[Body], Body]:
        """Declare the partial derivatives of elementwise `functions`.

        The decorated function takes the inputs and, if its last parameter is named `out`, the
        output. It returns the partial derivative, or a tuple of them for several inputs; `None`
        means "no gradient". Broadcasting, precision and conjugation need no code of yours.

        If a partial derivative is expensive, give one function for each input, all with the same
        parameters: `rule.scalar(f)(by_x, by_y)`. Those that nobody needs are then not computed.

        Arguments:
            functions: elementwise functions of numbers and arrays with these partial derivatives.
            poles: whether the partial derivatives can divide by zero or overflow for finite inputs;
                guarding against that costs time. By default the code of the partial derivatives
                decides: without poles are those that only compare, scale an input, or take signs,
                sines and cosines. `False` turns the guard off where you know better.
            chooses: whether the functions choose among their inputs, as `maximum` does. An input
                that was not chosen gets a zero, even if the cotangent is infinite or undefined.
            refuses: the parameters whose partial derivative is not known, each with the reason.
                Return `None` for these; whoever asks for one gets an error with the reason.
        """

        def declare(body: Any, origin: Origin) -> None:
            each: tuple[Any, ...] = body if type(body) is tuple else (body,)
            place = self._refuse.place_of(each[0], origin)
            parameters = parameters_of(each[0])
            self._refuse.not_one_by_one(parameters, place)
            takes_out = bool(parameters) and parameters[-1].name == "out"
            types = (Numeric,) * (len(parameters) - takes_out)
            self._refuse.uneven(each, functions, len(types), place)
            refused = self._refuse.unknown(refuses or {}, parameters[: len(types)], place)

            def look() -> bool:
                return any(may_have_poles(p, takes_out) for p in each)

            self._declare(
                functions,
                "scalar",
                types,
                body=each[0] if len(each) == 1 else together_of(each),
                partials=None if len(each) == 1 else each,
                place=place,
                origin=origin,
                poles=look if poles is None else poles,
                chooses=chooses,
                takes_out=takes_out,
                refuses=refused,
                reverse=pull_chosen if chooses else pull_scalar,
            )

        return self._declaration("rule.scalar", functions, declare, several=True)

    @entry
    def __call__(
        self,
        *functions: Any,
        refuses: Mapping[str, str] | None = None,
        by_position: Callable[..., Any] | None = None,
        names: Callable[..., Mapping[str, Any]] | None = None,
    ) -> Callable[[Body], Body]:
        """Declare a rule for `functions`, dispatched on the annotations of the decorated body.

        The body returns the value and a pullback. The pullback maps `dy` to a tuple with one
        cotangent for each positional parameter without a default; `None` means "no gradient".
        Parameters with a default, and keyword-only ones, are options and have no gradient.

        Instead of a pullback the body may return a tuple of parts: one function of `dy`, or `None`,
        for each such parameter. An AD then computes only the cotangents that it needs. A pair
        `(shared, parts)` computes what they have in common once: each part is called with what
        `shared(dy)` returned.

        If the functions take functions, give the body a keyword-only parameter `ad`. It is the AD:
        `ad(f, *xs)` returns `(y, back)`.

        Numbers of Python and of NumPy match alike, in any precision: `int` matches integers,
        `float` also floating-point numbers, and `complex` also complex numbers (PEP 484). A 0-d
        array matches as the number that it holds, unless a rule is for arrays. NumPy's `bool_` is
        no number.

        `refuses` names the parameters whose derivative is not known, each with the reason. Whoever
        asks for one gets an error with the reason.

        `by_position` is a function that takes what `functions` take, but the options by position.
        Where an option is differentiated an AD calls it instead, by a rule of its own.

        `names` is for functions of `*args` and `**kwargs`, and bodies of `*args`. It takes the
        parameters that have a name of their own, and returns the defaults of those that follow, by
        name (`inspect.Parameter.empty`: none). An AD then gives them by position.
        """

        def declare(body: Body, origin: Origin) -> None:
            more = {"refuses": refuses, "by_position": by_position, "names": names}
            self._declare_body(functions, "general", body, origin, **more)

        return self._declaration("rule", functions, declare)

    @entry
    def linear(
        self,
        *functions: Any,
        argnums: int | tuple[int, ...] | None = None,
        shifts: tuple[str, ...] = (),
    ) -> Callable[[Body], Body]:
        """Declare the adjoint of linear `functions`. The value comes from the function itself.

        The decorated function takes the cotangent `dy`, then the parameters of the function,
        annotated like those of a rule. It returns the cotangent of the argument in which the
        function is linear, or a tuple of them for several; `None` means "no gradient". It may read
        the shape, dtype and structure of these arguments, but not their numbers: the adjoint of a
        linear function does not depend on them. Each cotangent is projected to the kind of its
        argument.

        Arguments:
            functions: functions with this adjoint.
            argnums: the positions of the arguments in which they are jointly linear; by default all
                positional parameters without a default.
            shifts: the names of options that add a constant to the value, such as the `initial` of
                a sum. They are left out when the function is applied to a tangent.
        """

        def declare(adjoint: Body, origin: Origin) -> None:
            self._declare_body(functions, "linear", adjoint, origin, argnums, shifts)

        return self._declaration("rule.linear", functions, declare)

    @entry
    def forward(self, *functions: Any) -> Callable[[Body], Body]:
        """Declare forward rules for `functions` by hand, dispatched like the rules of `rule(f)`.

        Scalar, linear and constant rules need none: the line that declares them has it. The body of
        a forward rule returns the value and a pushforward, which maps the tangents of the
        positional parameters without a default to the tangent of the value. It is one of three
        things:

        - a tuple with one function of a tangent, or `None`, for each parameter; the results are
          added;
        - a pair `(parts, shared)` of such a tuple and a function that is applied to their sum;
        - a function of all tangents, some of which may be `None`, for zero.

        A forward rule is the adjoint of the rule for the same function, which `check_rrule` checks.
        It goes with that rule: engines look for the rule first (`custom_frule` declares both).
        If a rule of another set overrides that rule, the function has no forward rule.
        """

        def declare(body: Body, origin: Origin) -> None:
            self._declare_body(functions, "forward", body, origin)

        return self._declaration("rule.forward", functions, declare)

    @entry
    def batched(self, *functions: Any) -> Callable[[Body], Body]:
        """Declare batching rules: what `functions` do to a whole batch of arguments.

        The body takes what the functions take, and is dispatched on the types of one entry. Each
        annotated parameter without a default may be a batch. Its arrays then have one more axis in
        front, of the length of the batch, or of length 1 if the array is the same for all entries.
        Lists and tuples hold such arrays; Python numbers are the same for all entries. The body
        returns the value, whose arrays have the batch axis in front, or `NotImplemented` if it
        cannot tell. NumPy's universal functions, and functions with a scalar rule, need no rule.

        `rulescore.testing.check_batched` compares with a loop. (JAX's batching rules.)
        """

        def declare(body: Body, origin: Origin) -> None:
            self._declare_body(functions, "batched", body, origin)

        return self._declaration("rule.batched", functions, declare)

    @entry
    def of_instances(self, body: Body) -> Body:
        """Declare a rule for calling an object, dispatched on the object's type first.

        The first annotation is the type of the callable object. The pullback returns the object's
        own cotangent (a `Tangent`, or `None`) before those of the arguments.
        """
        self._declare_body((), "instance", body, Origin(sys._getframe(2)))
        return body

    @entry
    def constant(self, *functions: Any) -> None:
        """Declare that no cotangent passes through `functions`, whatever their arguments.

        They may not change what they are given, and what they return of that may not be written
        to. This is a call, and no decorator. (ChainRules' `@non_differentiable`.)
        """
        caller = sys._getframe(2)
        place = (caller.f_code.co_filename, caller.f_lineno)
        for f in functions:
            # a decorated `def` would be replaced by `None`
            if is_being_made(f, caller) and f.__name__ != "<lambda>":
                raise self._refuse.error(
                    Fault.FORM,
                    place,
                    f"`constant` is no decorator: write `rule.constant({f.__name__})` below the "
                    "function",
                )
        self._declare(
            functions,
            "constant",
            (),
            varargs=Any,
            place=place,
            origin=Origin(caller),
            options=None,
        )

    @entry
    def opt_out(self, function: Any, *types: type) -> None:
        """Declare that the rules of a function are not for arguments of some types.

        An AD then differentiates the function's own code: `rule.opt_out(np.sum, MyArray)`, where
        `MyArray` is a subtype of yours of what the rule is for. (ChainRules' `@opt_out`.)
        """
        self._declare_opted_out(function, types, sys._getframe(2))

    @entry
    def method(self, function: Any) -> Callable[[Body], Body]:
        """Declare how `project`, `accumulate`, `zero` or `flatten` treats values of your own type.

        The decorated function takes what `function` takes, and is dispatched on its annotations. A
        type with a method of `project(dx, x)` for `x` goes by value: its cotangent is whatever that
        returns, not a `Tangent` of its fields.
        """
        if function not in (project, accumulate, zero, flatten):
            given = name_of(function) if callable(function) else repr(function)
            raise self._refuse.error(
                Fault.FORM,
                Origin(sys._getframe(2)).line,
                "`rule.method` is for `project`, `accumulate`, `zero` and `flatten`, and not for "
                f"{given}: declare a rule by `rule(f)`",
            )

        def declare(body: Body, origin: Origin) -> None:
            parameters = parameters_of(body)
            due = 1 if function in (zero, flatten) else 2
            if len(parameters) != due or any(p.kind not in POSITIONAL for p in parameters):
                raise self._refuse.error(
                    Fault.PARAMETERS,
                    self._refuse.place_of(body, origin),
                    f"a method of {name_of(function)} takes {counted(due, 'argument')}: give it as "
                    "many parameters",
                )
            self._declare_body((function,), "method", body, origin)

        return self._declaration("rule.method", (function,), declare)

    def example(self, f: Any, /, *xs: Any, **options: Any) -> None:
        """Record a call of `f` that its rule is checked with by `python -m rulescore check`.

        A random generator among the arguments is copied for each call of the check, so that it
        always draws the same numbers.
        """
        self._examples.recorded.append((f, xs, options))

    def without_rule(self, reason: str, *names: str) -> None:
        """Record why functions, given by names such as `numpy.copyto`, have no rule.

        `python -m rulescore list --missing` shows the reason, and so do the errors of an AD. What
        to do comes after a colon: "it reads a file: read it before". If the reason ends with a
        colon, or with "yet", an AD may show how to declare the rule. If it ends with "its own
        source", an error is about what that source calls.
        """
        self.reasons.update(dict.fromkeys(names, reason))

    @entry
    def register(self, *, override: bool | str | Iterable[str] = False) -> None:
        """Make the rules known to `rrule`, from the next call on.

        Arguments:
            override: whether the rules win over all other rules that match; or the name of one
                plugin or rule set, or several names, that they win over. Sets that override and are
                registered later win over these.

        A rule set of the same name that was registered from the same place is replaced, as when a
        cell of a notebook runs again. Raises `RuleError`, and registers nothing, if a rule clashes
        with a known one, if a declaration such as `rule(f)` has no body, or if nothing has the name
        that is to be overridden.
        """
        self.refuse_waiting()
        if not isinstance(override, bool):
            override = frozenset([override] if isinstance(override, str) else override)
            changes.refuse_unknown(override, self.name)
        changes.register(self, override=override)

    def unregister(self) -> None:
        """Take the rules back, from the next call on; nothing happens if they are not known."""
        changes.unregister(self)

    def refuse_waiting(self) -> None:
        """Raise `RuleError` if a declaration has no body, and forget that declaration."""
        waiting, self._waiting = self._waiting, []
        for declaration in waiting:
            raise declaration.never_applied()

    def __repr__(self) -> str:
        return f"RuleSet({self.name!r}, {counted(len(self.rules), 'rule')})"

    def _declaration(
        self,
        form: str,
        functions: tuple[Any, ...],
        declare: Callable[[Any, Origin], None],
        several: bool = False,
    ) -> Declaration:
        caller = sys._getframe(3)  # of the method that calls this, and of its `entry`
        origin = Origin(caller)

        def apply(declaration: Declaration, body: Any) -> None:
            self._waiting = [known for known in self._waiting if known is not declaration]
            declare(body, origin)

        declaration = Declaration(form, functions, caller, origin.line, self.name, apply, several)
        self._waiting.append(declaration)
        return declaration

    def _declare_opted_out(self, f: Any, types: tuple[type, ...], caller: FrameType) -> None:
        place, origin = (caller.f_code.co_filename, caller.f_lineno), Origin(caller)
        self._declare((f,), "opted out", types, place=place, origin=origin, options=None)

    def _declare_body(self, *given: Any, **more: Any) -> None:
        changes.declare(self, rules_of_body(self._refuse, *given, may_raise=self.may_raise, **more))

    def _declare(self, *given: Any, **more: Any) -> None:
        changes.declare(self, rules_for(self._refuse, *given, may_raise=self.may_raise, **more))
