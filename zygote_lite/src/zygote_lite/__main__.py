"""The command `python -m zygote_lite`.

python -m zygote_lite explain model.py::loss --args "np.ones(3)" 2.0
                                      how each call of the function is differentiated
python -m zygote_lite code model.py::loss --args "np.ones(3)" 2.0
                                      the code that computes its gradient, highlighted in a terminal
python -m zygote_lite error           the kinds of errors, with their codes
python -m zygote_lite error ZL012     the page about one of them, or of those of rules (RC001)
"""

import argparse
import importlib.util
import inspect
import math
import re
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rulescore.__main__ import main as errors_of_rules
from rulescore.faults import code_in, print_page, run_command
from zygote_lite._interface.show import code_adjoint, resolutions
from zygote_lite._ir.frames import keep_users_frames
from zygote_lite.errors import Fault

_KEYWORD = re.compile(r"\s*(\w+)\s*=(?!=)")


def command(arguments: list[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    parser = argparse.ArgumentParser("python -m zygote_lite", description="Ask about gradients.")
    commands = parser.add_subparsers(required=True, metavar="command")
    error = commands.add_parser("error", help="print the page about a kind of error")
    error.add_argument("code", nargs="?", help="such as ZL012; without it all codes are listed")
    error.set_defaults(run=_error)
    for name, help_, run in (
        ("explain", "show how each call is differentiated, and why", _explain),
        ("code", "show the code that computes the gradient", _code),
    ):
        asked = commands.add_parser(name, help=help_)
        asked.add_argument(
            "function", help="such as model.py::loss, or package.module::Class().method"
        )
        asked.add_argument(
            "--args", nargs="*", default=[], metavar="EXPRESSION",
            help="the arguments, in Python, and `name=EXPRESSION` for those by keyword: names of "
            "the file, `np` and `math` are known",
        )  # fmt: skip
        asked.add_argument("--argnums", type=int, nargs="*", help="which of them; without it all")
        asked.set_defaults(run=run)
    given = parser.parse_args(arguments)
    status: int = given.run(given)
    return status


def _error(given: argparse.Namespace) -> int:
    if given.code is not None and given.code.upper().startswith("RC"):
        return errors_of_rules(["error", given.code])
    try:
        print_page(Fault, given.code)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _explain(given: argparse.Namespace) -> int:
    def answer(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> None:
        lines = [
            ("-" if place.startswith("<frozen ") else place, call, how)
            for place, call, how in resolutions(f, xs, kws, given.argnums)
        ]
        _print_table(("place", "call", "how"), lines)

    return _asked_for(given, answer)


def _code(given: argparse.Namespace) -> int:
    def answer(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> None:
        print(repr(code_adjoint(f, *xs, argnums=given.argnums, **kws)).rstrip())

    return _asked_for(given, answer)


def _asked_for(
    given: argparse.Namespace, answer: Callable[[Any, tuple[Any, ...], dict[str, Any]], None]
) -> int:
    """Answer a question about a function with its arguments; return the exit status."""
    asked = given.function
    try:
        f, names = _function_and_names(asked)
        known = {"np": np, "math": math, **names}
        xs: list[Any] = []
        kws: dict[str, Any] = {}
        for asked in given.args:
            keyword = _KEYWORD.match(asked)
            if keyword is None:
                xs.append(eval(asked, known))
            else:
                kws[keyword[1]] = eval(asked[keyword.end() :], known)
        asked = given.function
        _refuse_method_alone(asked, f, xs, kws)
    except (Exception, SystemExit) as error:
        told = error if type(error) is LookupError else f"{type(error).__name__}: {error}"
        print(f"{asked}: {told}", file=sys.stderr)
        return 2
    try:
        answer(f, tuple(xs), kws)
    except BrokenPipeError:
        raise
    except (Exception, SystemExit) as error:
        if not code_in(str(error)):  # of the function itself: where, too
            keep_users_frames(error)
            of_user = error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
            traceback.print_exception(of_user)
        else:
            print(error, file=sys.stderr)
        return 1
    return 0


def _function_and_names(target: str) -> tuple[Any, dict[str, Any]]:
    """Return the function that `file.py::name` or `module::name` names, and the names there."""
    where, separator, path = target.partition("::")
    if not where or not separator or not path:
        raise LookupError(f"{target!r} is no file.py::function, and no package.module::function")
    if where.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(where).stem, where)
        if spec is None or spec.loader is None or not Path(where).is_file():
            raise LookupError(f"there is no file {where}")
        folder, package = Path(where).resolve().parent, ""
        while (folder / "__init__.py").is_file():
            folder, package = folder.parent, f"{folder.name}.{package}"
        sys.path.insert(0, str(folder))  # as Python does with a script
        if package:
            module = importlib.import_module(package + spec.name)
        else:
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
    else:
        module = importlib.import_module(where)
    try:
        return eval(path, dict(vars(module))), vars(module)
    except (AttributeError, NameError):
        raise LookupError(f"there is no {path} in {where}") from None


def _refuse_method_alone(path: str, f: Any, xs: list[Any], kws: dict[str, Any]) -> None:
    """Refuse a method that is taken from its class, and lacks the object that it is of."""
    owner, _, name = path.rpartition("::")[2].rpartition(".")
    if owner and isinstance(f, types.FunctionType) and f.__qualname__.endswith(f"{owner}.{name}"):
        try:
            inspect.signature(f).bind(*xs, **kws)
        except TypeError as error:
            raise LookupError(
                f"{error}: {name} is a method of {owner}; name it by an object, as in "
                f"{owner}().{name}"
            ) from None


def _print_table(heads: tuple[str, ...], lines: list[Any]) -> None:
    """Print lines as a table: in a terminal by rich (`zygote_lite[rich]`), else as plain text."""
    if sys.stdout.isatty() and importlib.util.find_spec("rich"):
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*heads)
        for line in lines:
            table.add_row(*map(Text, line))
        Console().print(table)
        return
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    for line in (heads, tuple("-" * width for width in widths), *lines):
        print("  ".join(map(str.ljust, line, widths)).rstrip())


if __name__ == "__main__":
    sys.exit(run_command(command))
