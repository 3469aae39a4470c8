"""Quiet: what the text writes as `np.errstate(all="ignore")` runs as a context that costs half."""

import ast
from typing import Any

import numpy as np

QUIET = "<quiet>"  # a name that no program has
_IN_WORDS = ast.dump(ast.parse('np.errstate(all="ignore")', mode="eval").body)


class Quiet:
    """A context in which NumPy warns of nothing, which need not make its settings anew."""

    __slots__ = ("token",)

    def __enter__(self) -> None:
        self.token = _SETTINGS.set(_IGNORED)

    def __exit__(self, *_: Any) -> None:
        _SETTINGS.reset(self.token)


def context_of(written: ast.expr) -> ast.expr:
    """Return what runs for what is written after `with`."""
    if manager is np.errstate or ast.dump(written) != _IN_WORDS:
        return written
    made = ast.Call(ast.Name(QUIET, ast.Load()), [], [])
    return ast.fix_missing_locations(ast.copy_location(made, written))


manager: Any = np.errstate
try:
    _SETTINGS: Any = np._core.umath._extobj_contextvar  # type: ignore[attr-defined]
    with np.errstate(all="ignore"):
        _IGNORED = _SETTINGS.get()
    with Quiet():
        manager = Quiet if {*np.geterr().values()} == {"ignore"} else manager
except (AttributeError, LookupError):  # NumPy may keep its settings elsewhere one day
    pass
