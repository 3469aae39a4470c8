"""Kinds of errors that have a code and a page: those of `rulescore`, and of engines built on it.

A message ends with the code of its kind, such as `[RC001]`. The package that declares the kind has
a page about it with an example, such as `pages/RC001.md`.
"""

import enum
import importlib.resources
import os
import re
import string
import sys
from collections.abc import Callable

__all__ = ["CodedFault", "an", "code_in", "counted", "print_page", "run_command", "with_cells"]
_CODE = re.compile(r"\[([A-Z]+\d{3})\]$")
_LINK = re.compile(r"\[([^\]]*)\]\([a-z]+://\S*?/main/([^)]*)\)")  # to a page of the documentation
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


class CodedFault(enum.Enum):
    """What went wrong, one kind for each thing to do about it: an enum to derive from.

    Attributes:
        code: such as `RC001`.
        title: what went wrong, in a few words.
    """

    code: str
    title: str

    def message(self, text: str) -> str:
        """Return a text with the code at its end, unless one of these kinds has put its own.

        It names no addresses in memory, which say nothing to a reader.
        """
        text = _ADDRESS.sub("", with_cells(text))
        if code_in(text) in {kind.code for kind in type(self)}:
            return text
        return f"{text}{'' if text[-1:].isspace() else ' '}[{self.code}]"

    @property
    def page(self) -> str:
        """The page about this kind of error, in Markdown."""
        pages = importlib.resources.files(type(self).__module__.partition(".")[0]) / "pages"
        return (pages / f"{self.code}.md").read_text(encoding="utf8")


def with_cells(text: str) -> str:
    """Return a text with the cells of a notebook named as IPython does: `Cell In[3]:2`."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return text

    def named(found: re.Match[str]) -> str:
        cell = shell.compile.format_code_name(found[1])
        return found[0] if cell is None else f"{' '.join(cell)}:{found[2]}"

    return re.sub(r"([^\s(]+):(\d+)", named, text)


def an(name: str) -> str:
    """Return the name of a type with its indefinite article: `an int`, `a float`."""
    return f"{'an' if name[:1].lower() in 'aeio' or name == 'ndarray' else 'a'} {name}"


def counted(n: int, name: str, many: str = "") -> str:
    """Return a number of things: `1 argument`, `2 arguments`, `2 entries`.

    Arguments:
        n: how many.
        name: the name of one.
        many: that of several, where it is not formed with an `s`.
    """
    return f"{n} {name if n == 1 else many or name + 's'}"


def code_in(text: str) -> str:
    """Return the code at the end of a message; empty where it has none."""
    found = _CODE.search(text)
    return found[1] if found else ""


def print_page(kinds: type[CodedFault], code: str | None) -> None:
    """Print the page about a code; without a code, those of all kinds with their titles.

    A link to a page of the documentation is printed as its name and its file.

    Raises `LookupError` where no kind has the code.
    """
    if code is None:
        for kind in kinds:
            print(f"{kind.code}  {kind.title}")
        return
    last = [*kinds][-1].code
    digits = code.lstrip(string.ascii_letters)
    letters = code.removesuffix(digits).upper() or last.rstrip("0123456789")
    meant = f"{letters}{digits:>03}"
    found = [kind for kind in kinds if kind.code == meant]
    if not found:
        raise LookupError(f"there is no error {code}: the codes go up to {last}")
    print(_LINK.sub(r"\1 (\2)", found[0].page), end="")


def run_command(command: Callable[[], int]) -> int:
    """Run a command, and return its exit status; a reader that ends first, as `head`, is no error.

    Arguments:
        command: what prints, and returns its exit status.
    """
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes at its end
        return 1
    return status
