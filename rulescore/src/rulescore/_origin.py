"""Where a rule set was made, so that code that is run again replaces what it made before."""

import weakref
from types import FrameType
from typing import Literal


class Origin:
    """Tell whether two rule sets were made in one place.

    Arguments:
        caller: the frame in which the rule set is made.
    """

    def __init__(self, caller: FrameType) -> None:
        self._code = weakref.ref(caller.f_code)
        at_top = caller.f_locals is caller.f_globals
        scope = "<module>" if at_top else caller.f_code.co_qualname
        self._scope = caller.f_globals.get("__name__"), scope
        self._line = caller.f_code.co_filename, caller.f_lineno

    def repeats(self, earlier: "Origin") -> Literal["code", "line", "edited"] | None:
        """Return how the place is that of an earlier one, or `None` where it is another.

        `"code"`: the same code ran on. `"line"`: it was compiled anew, and stands where it stood.
        `"edited"`: code that was compiled anew in the same module and function, as the cell of a
        notebook is after a change.
        """
        if self._scope != earlier._scope:
            return None
        if self._code() is earlier._code():
            return "code" if self._line == earlier._line else None
        return "line" if self._line == earlier._line else "edited"
