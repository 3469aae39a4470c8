"""Lines of text, and where the code is left: for the tape, or by an error."""

import ast
from dataclasses import dataclass, field
from typing import Any

from zygote_lite._specialize.text.spell import ATOM, Speller
from zygote_lite._specialize.typed.raising import stand_in_for
from zygote_lite._specialize.typed.reasons import LEFT
from zygote_lite._specialize.typed.runtime import (
    UNSET,
    abandon,
    finite,
    has_key,
    has_length,
    has_value,
    is_bound,
    is_given,
    is_view,
    same_shape,
    throw,
)
from zygote_lite._specialize.typed.values import Value

LEAVE = f'raise RuntimeError("{LEFT}")'


@dataclass
class Text:
    """Lines of Python, each with the user's syntax node that it stands for."""

    lines: list[str] = field(default_factory=list)
    origins: list[ast.AST] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(self.lines)


@dataclass(eq=False)
class Lines(Speller):
    """Write lines.

    Attributes:
        text: the lines so far.
        depth: how far they are indented.
        origin: the user's syntax node that they stand for.
    """

    text: Text = field(default_factory=Text)
    depth: int = 0
    origin: ast.AST = field(default_factory=ast.Pass)

    def line(self, *texts: str) -> None:
        """Write a line, or several."""
        for text in texts:
            self.text.lines.append(f"{'    ' * self.depth}{text}".rstrip())
            self.text.origins.append(self.origin)

    def lines_of(self, text: Text) -> None:
        """Write the lines of another text."""
        for line, origin in zip(text.lines, text.origins, strict=True):
            self.text.lines.append(f"{'    ' * self.depth}{line}".rstrip())
            self.text.origins.append(origin)

    def leave_if(self, test: str) -> None:
        """Write that the code is left where a test holds."""
        self.line(f"if {test}:", f"    {LEAVE}")

    def error(self, kind: type[BaseException]) -> str:
        """Return the text for a class of errors."""
        return self.function(stand_in_for(kind))

    def exits(self, f: Any, xs: list[Value]) -> bool:
        """Write what leaves the code, if a function stands for that; return whether it does."""
        if f is abandon:
            self.line(LEAVE)
        elif f is throw:
            x = xs[0]
            self.line(f"raise {self.error(x.sample) if x.is_constant else self.read(x)}")
        elif f is has_value:
            self.leave_if(f"{self.expression(xs[0])} is {self.function(UNSET)}")
        elif f is is_given:
            self.leave_if(f"{self.expression(xs[0])} is None")
        elif f is is_bound:
            test = f"{self.expression(xs[0])} is {self.function(UNSET)}"
            self.line(f"if {test}:", "    raise UnboundLocalError")
        elif f is finite:
            (d,) = xs
            test = "np.isfinite({}).all()" if d.is_array else "math.isfinite({})"
            self.leave_if(f"not {test.format(self.expression(d))}")
        elif f is has_length:
            array, count = map(self.expression, xs)
            self.leave_if(f"len({array}) != {count}")
        elif f is has_key:
            table, key = map(self.expression, xs)
            self.leave_if(f"{key} not in {table}")
        elif f is is_view:
            a, b = map(self.expression, xs)
            self.leave_if(f"not np.may_share_memory({a}, {b})")
        elif f is same_shape:
            a, b = [self.within(x, ATOM) for x in xs]
            self.leave_if(f"{a}.shape != {b}.shape")
        else:
            return False
        return True
