"""Tables that the command prints: by rich (`rulescore[rich]`), else as plain text."""

import importlib.util
from collections.abc import Iterable, Sequence

_WIDTH = 160  # of a table that goes to a file


def print_table(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Print lines below their heads."""
    if importlib.util.find_spec("rich") is None:
        print(*filter(None, [title]), "  ".join(heads), *map("  ".join, lines), sep="\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH, soft_wrap=True)
    table = Table(title=title, title_justify="left")
    for head in heads:
        table.add_column(head, overflow="fold")
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(table)
