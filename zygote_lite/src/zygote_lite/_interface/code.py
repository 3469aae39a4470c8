"""Code that is shown: a text, which is highlighted in a terminal and in a notebook."""

import functools
import io
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

from rich.console import Console  # it comes with plum, on which rulescore is built

Asked = ParamSpec("Asked")
_PRE = '<pre style="font-family: monospace; line-height: 1.4">{code}</pre>'


class Code(str):
    """Python as text. A notebook shows it as HTML; where it is echoed in a terminal, in colors."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not sys.stdout.isatty():
            return str(self)
        console = _console()
        with console.capture() as captured:
            console.print(self.__rich__(), soft_wrap=True)
        return captured.get().rstrip()

    def __rich__(self) -> Any:
        from rich.syntax import Syntax  # when code is shown: pygments takes a while

        return Syntax(str(self).rstrip(), "python", theme="friendly", background_color="default")

    def _repr_html_(self) -> str:
        console = _console()
        console.print(self.__rich__(), soft_wrap=True)
        return console.export_html(inline_styles=True, code_format=_PRE)

    def __reduce__(self) -> Any:
        return Code, (str(self),)


def _console() -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        force_jupyter=False,  # there it would show what it prints
        record=True,
        color_system="truecolor",
    )


def as_code(f: Callable[Asked, str]) -> Callable[Asked, str]:
    """Decorate a function whose text is code."""

    @functools.wraps(f)
    def shown(*xs: Asked.args, **kws: Asked.kwargs) -> str:
        return Code(f(*xs, **kws))

    return shown
