"""A declaration that waits for its body."""

from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

from rulescore._errors import Fault, RuleError, entry
from rulescore._naming import name_of


class Declaration:
    """Declare a rule with the body that it is given, as a decorator.

    Arguments:
        form: how it is written, such as `rule.scalar`.
        functions: the functions that the rule is for.
        caller: the frame in which it is written.
        line: its file and line.
        ruleset: the name of the rule set.
        apply: what declares the rule, once there is a body.
        several: whether it may be given a body for each argument.

    Raises `RuleError` where `functions` holds the body: `@rule` alone above a `def` would take the
    body for the function, declare nothing, and stand in its place.
    """

    def __init__(
        self,
        form: str,
        functions: tuple[Any, ...],
        caller: FrameType,
        line: tuple[str, int],
        ruleset: str,
        apply: Callable[["Declaration", Any], None],
        several: bool = False,
    ) -> None:
        self._several = several
        self.form, self.functions, self._ruleset, self._apply = form, functions, ruleset, apply
        self._line = line
        for f in functions:
            is_body = isinstance(f, FunctionType) and f.__name__ == "_"
            if is_body or is_being_made(f, caller):
                code = f.__code__
                raise self._forgotten(
                    f"rule set {ruleset}, {code.co_filename}:{code.co_firstlineno}", f
                )

    @entry
    def __call__(self, *given: Any, **options: Any) -> Any:
        """Declare the rule, and return its body."""
        are_bodies = not options and all(isinstance(body, FunctionType) for body in given)
        if are_bodies and (len(given) == 1 or (given and self._several)):
            self._apply(self, given[0] if len(given) == 1 else given)
            return given[0] if len(given) == 1 else given
        f = self.functions[0] if len(self.functions) == 1 else None
        if isinstance(f, FunctionType) and f.__globals__.get(f.__name__) is not f:
            raise self._forgotten(self._place, f)  # it stands in its place
        what = repr(given[0]) if len(given) == 1 and not options else "what it is given"
        raise Fault.FORM(
            f"{self._place}: {what} is not a plain function: give `{self._written()}` the body of "
            "a rule, a `def` or a `lambda`"
        )

    @property
    def _place(self) -> str:
        return f"rule set {self._ruleset}, {self._line[0]}:{self._line[1]}"

    def never_applied(self) -> RuleError:
        """Return the error for a declaration that was not given its body."""
        return Fault.FORM(
            f"{self._place}: `{self._written()}` was not given the body of the rule, and declares "
            f"nothing: write `@{self.form}(f)` above the body, with `f`, the function it is for"
        )

    def _written(self) -> str:
        return f"{self.form}({', '.join(map(name_of, self.functions))})"

    def _forgotten(self, place: str, f: Any) -> RuleError:
        named = f" above {f.__name__}" if f.__name__.isidentifier() and f.__name__ != "_" else ""
        return Fault.FORM(
            f"{place}: `@{self.form}`{named} is given the body of a rule alone: write "
            f"`@{self.form}(f)`, with the function that it is for, such as `@{self.form}(np.sin)`"
        )


def is_being_made(f: Any, caller: FrameType) -> bool:
    """Return whether a function is being defined at the call that it is given to.

    So it is where `@rule` alone stands above it: the code that calls makes it, on these lines, and
    has not bound it to a name yet.
    """
    made = f.__code__ if isinstance(f, FunctionType) else None
    if made is None or not any(constant is made for constant in caller.f_code.co_consts):
        return False
    lines = [line for _, _, line in made.co_lines() if line is not None]
    if not made.co_firstlineno <= caller.f_lineno <= max(lines, default=0):
        return False
    names = (caller.f_locals, caller.f_globals)
    return not any(known is f for bound in names for known in list(bound.values()))
