"""The errors about rules, each of one kind, with a code for each thing to do about it.

A message ends with the code of its kind, such as `[RC001]`. `pages/RC001.md` tells of it, with an
example: `python -m rulescore error RC001` prints that page.

An error shows the frames of the user's code, and one of this package; `RULESCORE_ALL_FRAMES=1`
shows all.
"""

import functools
import os
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

from rulescore.faults import CodedFault, code_in

Called = TypeVar("Called", bound=Callable[..., Any])
Raised = TypeVar("Raised", bound=Exception)
_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


class RuleError(Exception):
    """Say that a rule is declared wrongly, clashes with another, or breaks the rule contract."""

    __module__ = "rulescore"

    @property
    def code(self) -> str:
        """The code of the kind of error, such as `RC001`; empty where it has none."""
        return code_in(str(self))


class Fault(CodedFault):
    """What went wrong, one kind for each thing to do about it; called with a text, the error."""

    FORM = "RC001", "A declaration has the wrong form"
    ANNOTATION = "RC002", "An annotation cannot be dispatched on"
    PARAMETERS = "RC003", "The parameters of a body do not fit the rule"
    ARGUMENT = "RC004", "A declaration names something that is not an argument"
    IN_PLACE = "RC005", "A function changes what it is given"
    CLASH = "RC006", "Two rules are for the same types"
    AMBIGUOUS = "RC007", "No rule is the most specific"
    OVERRIDE = "RC008", "There is nothing of this name to override"
    PLUGIN = "RC009", "A plugin gives no rule sets"
    VALUE = "RC010", "A rule does not return the value and a pullback"
    COUNT = "RC011", "A pullback gives the wrong number of cotangents"
    COTANGENT = "RC012", "A cotangent does not fit"
    UNKNOWN_DERIVATIVE = "RC013", "A derivative is not known"
    TANGENT = "RC014", "The tangents given to `frule` do not fit"
    EXPORT = "RC015", "An exported function needs more than its rule"
    HOST = "RC016", "PyTorch, JAX or autograd is not installed"
    HOST_CALL = "RC017", "A call of an exported function does not fit"
    HOST_RUN = "RC018", "A host cannot use what an exported function does"
    FOREIGN = "RC019", "A function of a host cannot be called on these arrays"
    BY_VALUE = "RC020", "A function with a rule is pickled by value"
    NOT_LINEAR = "RC021", "A pushforward is not linear"

    def __init__(self, code: str, title: str) -> None:
        self.code, self.title = code, title

    def __call__(self, text: str) -> RuleError:
        """Return the error with a text."""
        return RuleError(self.message(text))

    def of(self, kind: type[Raised], text: str) -> Raised:
        """Return an error of Python's with a text: what a host, or its user, expects."""
        return kind(self.message(text))


def entry(f: Called) -> Called:
    """Decorate a function that users call: its `RuleError` shows one frame of this package."""

    @functools.wraps(f)
    def called(*xs: Any, **options: Any) -> Any:
        try:
            return f(*xs, **options)
        except RuleError as error:
            __tracebackhide__ = keep_callers_frames(error)
            raise

    return cast(Called, called)


def keep_callers_frames(error: RuleError) -> bool:
    """Remove the frames of this package from an error, but for the one that handles it.

    Returns whether frames are hidden: `RULESCORE_ALL_FRAMES=1` shows all.
    """
    found = error.__traceback__
    if found is None or os.environ.get("RULESCORE_ALL_FRAMES", "") not in ("", "0"):
        return False
    kept, below = [found], found.tb_next
    while below is not None:
        if not below.tb_frame.f_code.co_filename.startswith(_OWN):
            kept.append(below)
        below = below.tb_next
    made: types.TracebackType | None = None
    for one in reversed(kept):
        made = types.TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    error.__traceback__ = made
    return True
