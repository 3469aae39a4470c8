"""Messages that begin with the user's call, whatever a library does inside of it."""

import traceback
import types
from typing import Any

from rulescore import reason_of
from rulescore.faults import code_in
from zygote_lite._ir.places import called_by_user, is_installed, is_library, library_entered
from zygote_lite._tape.refusals.advice import OR_CALL, OR_DECLARE, hint_on_library
from zygote_lite._tape.refusals.near_misses import rule_passed_over
from zygote_lite.errors import DifferentiationError, NoRuleError


def told_inside(outside: tuple[str, str, str], place: str, error: Any) -> str:
    why = reason_of(outside[1])
    if why is not None and not why.endswith(
        " its own source"
    ):  # which says more than what SciPy, say, does inside
        why = why.removesuffix(":")
        return f"{outside[0]}: {outside[1]} has no rule, and a gradient passes through it: {why}"
    return (
        f"{outside[0]}: a gradient passes through {outside[1]}, and at {place} it meets what is "
        f"refused: {error}"
    )


def complete_message(
    error: DifferentiationError, operands: Any, found: types.TracebackType | None
) -> None:
    """Let a message begin with the user's call, and name what helps with a library's values.

    Arguments:
        error: what was raised; a message may begin with a place in a library.
        operands: the function that is differentiated, and its arguments.
        found: the traceback.
    """
    place, _, told = str(error).partition(": ")
    path = place.rpartition(":")[0]
    text, outside = str(error), None
    frames = [frame for frame, _ in traceback.walk_tb(found)][::-1]
    if is_installed(path) or is_library(path):
        above = [frame for frame, _ in traceback.walk_stack(found.tb_frame)] if found else []
        outside = called_by_user(frames) or library_entered([*frames, *above], path)
        if outside is not None:
            text = told_inside(outside, place, told)
    hint = hint_on_library(operands, found)
    if any(better in told for better in _BETTER):
        hint = None  # which is what helps
    if hint is not None and told.startswith(hint):  # all that there is to say
        through = f"{outside[0]}: a gradient passes through {outside[1]}" if outside else place
        text = f"{through}: {told}"
    elif hint is not None and hint not in text:  # which is better than a rule to paste
        without = _without_rule_to_paste(text)
        if outside is not None:  # what it is that the library does inside is nobody's concern
            without = f"{outside[0]}: a gradient passes through {outside[1]}"
        text = f"{without}; {hint} [{error.code}]"
    almost = rule_passed_over(frames)
    if almost is not None:
        fault, told = almost
        code = fault.code if isinstance(error, NoRuleError) else error.code
        without = _without_rule_to_paste(text)
        text = f"{told}. Its source is differentiated, and that fails: {without} [{code}]"
    if text != str(error):
        error.args = (text,)
        if isinstance(error, SyntaxError):
            error.msg = text


_BETTER = (  # what helps more than a hint on a library
    *(
        "`rules_torch.numpy(f)`",
        "`rules_jax.numpy(f)`",
        "JAX would round",
        "array itself, by NumPy",
    ),
)


def _without_rule_to_paste(text: str) -> str:
    text = text.removesuffix(f"[{code_in(text)}]").partition(OR_DECLARE)[0]
    return text.partition(OR_CALL)[0].rstrip()
