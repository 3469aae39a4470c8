"""Text that is shown, code or a list of calls: highlighted in a terminal and in a notebook."""

import functools
import importlib.util
import io
import re
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

Asked = ParamSpec("Asked")
_LINE_OF_CALLS = re.compile(r"(?P<place>\S+|<.*?>)  +(?P<call>.*?)  +(?P<how>\S.*)")
_COLORS = {
    **dict.fromkeys(("transformed", "run once"), "green"),
    **dict.fromkeys(("rule of", "batching rule", "entry by entry"), "cyan"),
    **dict.fromkeys(("recorded", "a loop"), "yellow"),
}
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
        return type(self), (str(self),)


class CallList(Code):
    """A list of calls, a line each: where, the call, and how it was resolved. Shown as code is."""

    __slots__ = ()

    def __rich__(self) -> Any:
        from rich.text import Text

        text = Text()
        for line in self.splitlines():
            found = _LINE_OF_CALLS.fullmatch(line)
            if found is None:
                text.append(f"{line}\n")
                continue
            how = next((c for word, c in _COLORS.items() if found["how"].startswith(word)), "")
            text.append(line[: found.start("call")], "dim")
            text.append(line[found.start("call") : found.start("how")], "bold")
            text.append(f"{found['how']}\n", how)
        text.right_crop(1)
        return text


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


def shown_as(
    kind: type[Code],
) -> Callable[[Callable[Asked, str]], Callable[Asked, str]]:
    """Return a decorator of a function that returns text, which is to be shown as of a kind."""

    def decorate(f: Callable[Asked, str]) -> Callable[Asked, str]:
        @functools.wraps(f)
        def shown(*xs: Asked.args, **kws: Asked.kwargs) -> str:
            return kind(f(*xs, **kws))

        return shown

    return decorate
