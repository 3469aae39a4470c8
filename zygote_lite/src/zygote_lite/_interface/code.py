"""Code that is shown: a text, which is highlighted in a terminal and in a notebook."""

import functools
import importlib.util
import io
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

Asked = ParamSpec("Asked")
_PRE = '<pre style="font-family: monospace; line-height: 1.4">{code}</pre>'


class Code(str):
    """Python as text. A notebook shows it as HTML; where it is echoed in a terminal, in colors.

    The colors are rich's (`zygote_lite[rich]`): without it, this is plain text.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        console = _console() if sys.stdout.isatty() else None
        if console is None:
            return str(self)
        with console.capture() as captured:
            console.print(self.__rich__(), soft_wrap=True)
        echoed: str = captured.get().rstrip()
        return echoed

    def __rich__(self) -> Any:
        from rich.syntax import Syntax  # when code is shown: pygments takes a while

        return Syntax(str(self).rstrip(), "python", theme="friendly", background_color="default")

    def _repr_html_(self) -> str | None:
        console = _console()
        if console is None:
            return None  # a notebook then shows the text
        console.print(self.__rich__(), soft_wrap=True)
        html: str = console.export_html(inline_styles=True, code_format=_PRE)
        return html

    def __reduce__(self) -> Any:
        return Code, (str(self),)


def _console() -> Any:
    if importlib.util.find_spec("rich") is None:
        return None
    from rich.console import Console

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
