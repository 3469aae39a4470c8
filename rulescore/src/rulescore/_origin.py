"""Where a rule or a rule set was made: code that is run again replaces what it made before."""

import inspect
import weakref
from types import FrameType
from typing import Literal

_TOP = "<module>"
_TYPED = ("<stdin>", "<string>", "<console>")  # names of files that all that is typed in has


class Origin:
    """Tell whether two rules, or two rule sets, were made in one place.

    Arguments:
        caller: the frame in which the one is made.

    Attributes:
        code: a reference to the code that makes it.
        line: the file and the line of the code.
    """

    def __init__(self, caller: FrameType) -> None:
        # the one reference of this code object, which is told from others when that is gone
        self.code = weakref.ref(caller.f_code)
        # asking a function's frame for its locals would keep them alive
        in_function = caller.f_code.co_flags & inspect.CO_OPTIMIZED
        at_top = not in_function and caller.f_locals is caller.f_globals
        scope = _TOP if at_top else caller.f_code.co_qualname
        self._scope = caller.f_globals.get("__name__"), scope
        self.line = caller.f_code.co_filename, caller.f_lineno

    def repeats(self, earlier: "Origin") -> Literal["code", "whole", "edited"] | None:
        """Return how the place is that of an earlier one, or `None` where it is another.

        `"code"`: the same code ran on. `"whole"`: all of it was compiled anew, as a cell of a
        notebook is that is run again, or a module that is reloaded. `"edited"`: it was compiled
        anew in the same module and function, and may be another part of it, as the cell of a
        notebook is after a change.
        """
        if self._scope != earlier._scope:
            return None
        if self.code is earlier.code:
            return "code" if self.line == earlier.line else None
        is_same_file = self.line[0] == earlier.line[0] and self.line[0] not in _TYPED
        at_top = self._scope[1] == _TOP
        return "whole" if is_same_file and (at_top or self.line == earlier.line) else "edited"
