"""Calls without active operands: they are simply run, but for what may come to be active."""

import inspect
import types
from typing import Any

from zygote_lite._activity.activity import captured_within, reaches_active
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.saved import guarded
from zygote_lite._activity.side_effects import hooks_called, unknown_hooks
from zygote_lite._cotangents.registry import DESUGARED, STRUCTURAL, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import refuse_locals
from zygote_lite._tape.effects import is_harmless, may_change
from zygote_lite._tape.functions import RecordedFunctions
from zygote_lite._tape.refusal import hook_refusal, refuse_frame
from zygote_lite.errors import DifferentiationError


class InactiveCalls(RecordedFunctions):
    """Run calls that no gradient depends on, so far."""

    __slots__ = ()

    def run_inactive(self, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
        """Run a call without active operands; log its changes of values that pullbacks saved."""
        generated = self.generator_of(f, xs, kws)
        if generated is not None:
            return generated
        if type(f) is types.FunctionType:
            refuse_locals(f)
        hooks = hooks_called(f, (*xs, *kws.values()))
        if not hooks and id(f) not in STRUCTURAL and id(f) not in DESUGARED:
            hooks = unknown_hooks(f, xs)
            if hooks and reaches_active(*hooks):
                raise hook_refusal(f, hooks)
        harmless = not (state.captured or state.clean) or (not hooks and is_harmless(f, xs, kws))
        if state.clean and not harmless and may_change(f, xs):
            state.clean.clear()  # something may be written into what was found to be inactive
        held = captured_within(f, *xs, *kws.values()) if state.captured and not harmless else []
        if held:
            y, back = guarded(f, xs, kws, held)
            if back is not None:
                self.entries.append((back, (), None))
        else:
            y = f(*xs, **kws)
        if type(y) is types.FrameType:
            refuse_frame()
        return y, None

    def generator_of(self, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
        """Make the generator that an inactive call makes, if it does: it may come to be active."""
        made = member_of(type(xs[0]), "__iter__") if f is iter and len(xs) == 1 else f
        if (
            not isinstance(made, types.FunctionType)
            or not made.__code__.co_flags & inspect.CO_GENERATOR
        ):
            return None
        try:
            return self.function((None,) * (1 + len(xs) + len(kws)), made, xs, kws)
        except DifferentiationError:
            return f(*xs, **kws), None  # it can generate nothing active
