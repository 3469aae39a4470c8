"""Refusal: what is said of a call that no gradient can pass, and of where it stands."""

import operator
import os
import sys
import types
from numbers import Number
from typing import Any

import numpy as np

import rulescore
from rulescore import find_rule
from zygote_lite._activity import captured_within, reaches_active
from zygote_lite._errors import DifferentiationError, NoRuleError
from zygote_lite._hooks import callbacks, unknown_hooks
from zygote_lite._kinds import FUNCTION, INERT, OBJECT, TUPLE, VALUE, kind_of
from zygote_lite._pullbacks import Flags, Opaque, Pulled, inert
from zygote_lite._reachable import is_library
from zygote_lite._source import place_of
from zygote_lite._state import state


def no_rule(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    """Run a call that has neither rule nor source; refuse it if a gradient passes through it.

    None passes where nothing active is given, or where the value has no gradient (a text, say)
    and nothing was given that the call may have changed.
    """
    operands = (getattr(f, "__self__", None), *xs, *kws.values())
    hooks = [*unknown_hooks(f, operands), *callbacks(operands)]
    if hooks and (reaches_active(*hooks) or captured_within(*hooks)):
        raise hook_refusal(f, hooks)
    reaches = reaches_active(f, *operands)  # an iterator that ends lets go of what it held
    y = f(*xs, **kws)
    given = [x for flag, x in zip((flags[0], *flags[1:]), operands, strict=True) if flag]
    if not given and not reaches:
        return y, inert(len(flags))
    only_text = all(kind_of(x) == INERT for x in given) and not reaches
    carries_none = kind_of(y) in ((INERT, OBJECT) if only_text else (INERT,))
    if carries_none and all(_is_immutable(x) for x in operands):
        return y, Opaque(len(flags))
    raise refusal(f, xs, kws)


def refusal(f: Any, xs: tuple[Any, ...], kws: dict[str, Any] | None = None) -> NoRuleError:
    """Return the error for a function that a gradient passes, and that has no rule."""
    named = [f"{name}={type(x).__name__}" for name, x in (kws or {}).items()]
    given = ", ".join([*(type(x).__name__ for x in xs), *named])
    options = _options_without_rule(f, xs, kws or {})
    if options:
        return NoRuleError(
            f"{where()}: {name_of(f)} of ({given}) has no rule that takes {' and '.join(options)}, "
            f"and a gradient passes through it; {_advice_on_options(f, kws or {})}"
        )
    return NoRuleError(
        f"{where()}: {name_of(f)} of ({given}) has no rule and no Python source, and a gradient "
        f"passes through it; {_advice(f)}"
    )


def _options_without_rule(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> list[str]:
    """Return the keywords that the rule for a call does not take, if there is one without them."""
    rule = find_rule(f, *xs) if kws else None
    if rule is None or rule.options is None:
        return []
    return [f"`{name}`" for name, x in kws.items() if x is not None and name not in rule.options]


def _advice_on_options(f: Any, kws: dict[str, Any]) -> str:
    if isinstance(f, np.ufunc) and "where" in kws:
        return (
            "where it is false the result is undefined: give `out` too, which keeps its values "
            "there, or choose by `np.where(mask, y, other)`"
        )
    if isinstance(f, np.ufunc) and ("casting" in kws or "signature" in kws):
        return "leave it out, and convert the arguments or the result by `astype`"
    return "leave it out, or declare a rule with such an option (see rulescore)"


def hook_refusal(f: Any, hooks: list[tuple[Any, Any]]) -> DifferentiationError:
    """Return the error for user code that a function written in C calls, and that may write."""
    hook = hooks[0][0]
    return DifferentiationError(
        f"{where()}: {name_of(f)}, which is written in C, may call {hook.__qualname__} "
        f"({place_of(hook)}), and that may change what a gradient depends on: call it from Python, "
        "or let it change nothing"
    )


def frame_refusal(name: str) -> DifferentiationError:
    """Return the error for user code that looks at the frames of running code."""
    return DifferentiationError(
        f"{where()}: {name} looks at the frames of running code, and what the variables there hold "
        "cannot be followed: pass it on as an argument, or return it"
    )


def refuse_frame() -> None:
    """Refuse a frame that the user asks for.

    In it lie variables of the recorded code, and numbers of which it is not known where they came
    from. Python's own library looks there for a line number or the name of a module: to log, say.
    """
    if not is_library(asking()):
        raise frame_refusal("this")


def refuse_reader(f: Any) -> None:
    """Refuse a function of the user's that reads the variables of frames."""
    if not is_library(f.__code__.co_filename):
        raise frame_refusal(f"{f.__qualname__} ({place_of(f)})")


def asking() -> str:
    """Return the file of the code that the running call stands in."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_ENGINE):
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_filename


def _advice(f: Any) -> str:
    module = getattr(f, "__module__", None) or type(f).__module__ or ""
    top = module.split(".")[0]
    if top in ("numpy", "math", "cmath", "operator", "_operator", "builtins") and (
        find_rule(operator.add, 1.0, 1.0) is None
    ):
        return "install the plugin with rules for Python and NumPy (pip install rules_base)"
    return (
        "declare one: `rule = RuleSet('mine'); @rule(f) def _(x: float): ...; rule.register()` "
        "(see rulescore), or install a plugin that has it"
    )


def _is_immutable(x: Any) -> bool:
    kind = kind_of(x)
    if isinstance(x, bytearray):
        return False
    if kind == VALUE:
        return isinstance(x, Number | np.generic)
    return kind <= FUNCTION or (kind == TUPLE and all(map(_is_immutable, x)))


def note_resolution(f: Any, xs: tuple[Any, ...], how: str) -> None:
    """Note how a call was resolved, if `explain` asks for it."""
    if state.trace is not None:
        state.trace.append(
            (where(), f"{name_of(f)}({', '.join(type(x).__name__ for x in xs)})", how)
        )


def name_of(f: Any) -> str:
    """Return the name of a function as the user knows it."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", type(f).__qualname__)
    module = getattr(f, "__module__", None)
    if module is None and hasattr(f, "__objclass__"):
        module = f.__objclass__.__module__
    owner = getattr(f, "__self__", None) if isinstance(f, types.BuiltinFunctionType) else None
    if isinstance(owner, np.ufunc):
        return f"{name_of(owner)}.{f.__name__}"
    if isinstance(f, np.ufunc) and getattr(np, f.__name__, None) is not f:
        return f"the ufunc {name}"  # of a library that it does not tell
    module = {"_operator": "operator", None: type(f).__module__}.get(module, module)
    return str(name) if module in ("builtins", "__main__") else f"{module}.{name}"


_HERE = tuple(
    os.path.dirname(os.path.abspath(path or "")) + os.sep
    for path in (__file__, np.__file__, rulescore.__file__)
)
_ENGINE = _HERE[0]
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def where() -> str:
    """Return the user's file and line that the running call stands for."""
    frame: Any = sys._getframe(1)
    nearest = None
    while frame is not None:
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if not frame.f_code.co_filename.startswith(_HERE):
            if not frame.f_code.co_filename.startswith(_STANDARD):
                return place
            nearest = nearest or place
        frame = frame.f_back
    return nearest or "<unknown>"
