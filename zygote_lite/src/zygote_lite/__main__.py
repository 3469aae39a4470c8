"""The command `python -m zygote_lite`.

python -m zygote_lite error           the kinds of errors, with their codes
python -m zygote_lite error ZL012     the page about one of them
"""

import argparse
import importlib.resources
import sys

from zygote_lite.errors import Fault


def command(arguments: list[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    parser = argparse.ArgumentParser("python -m zygote_lite", description="Ask about gradients.")
    commands = parser.add_subparsers(required=True, metavar="command")
    error = commands.add_parser("error", help="print the page about a kind of error")
    error.add_argument("code", nargs="?", help="such as ZL012; without it all codes are listed")
    error.set_defaults(run=_error)
    given = parser.parse_args(arguments)
    status: int = given.run(given)
    return status


def _error(given: argparse.Namespace) -> int:
    if given.code is None:
        for kind in Fault:
            print(f"{kind.code}  {kind.title}")
        return 0
    found = [kind for kind in Fault if kind.code == given.code.upper()]
    if not found:
        last = [*Fault][-1].code
        print(f"there is no error {given.code}: the codes go up to {last}", file=sys.stderr)
        return 2
    print(page_of(found[0]), end="")
    return 0


def page_of(kind: Fault) -> str:
    """Return the page about a kind of error."""
    pages = importlib.resources.files("zygote_lite") / "pages"
    return (pages / f"{kind.code}.md").read_text(encoding="utf8")


if __name__ == "__main__":
    sys.exit(command())
