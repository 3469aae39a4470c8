"""`with`: the managers that are known, and what entering and leaving them does.

`np.errstate` and `warnings.catch_warnings` set how operations tell of errors: these are written in
the same context. `contextlib.nullcontext` sets nothing, and `contextlib.suppress` is a `try`. A
manager that Python code defines is followed into its `__enter__` and `__exit__`: those that
`contextlib.contextmanager` makes, too.

What these set, and set back, is followed too: globals that hold numbers and texts, and `np.seterr`.
The code sets nothing itself. Globals that hold something else when the function ends are assigned
when the call is answered, and are read at entry from then on; the rest must be as it was.
"""

import contextlib
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._specialize.infer.effects import variables as _variables
from zygote_lite._specialize.infer.effects.attributes import assigned_global
from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import NO_RESULT, mirror
from zygote_lite._specialize.infer.models import classes as _classes
from zygote_lite._specialize.infer.models.errors import caught_by
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contexts import Context, error_state, warning_filter
from zygote_lite._specialize.typed.effects import set_item_at_the_end
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Error, StandIn
from zygote_lite._specialize.typed.store_forwarding import value_key
from zygote_lite._specialize.typed.structures import mapping
from zygote_lite._specialize.typed.values import Value, constant

_KNOWN = {np.errstate, np.seterr, warnings.catch_warnings, warnings.simplefilter,
          warnings.filterwarnings, contextlib.nullcontext, contextlib.suppress}  # fmt: skip


def made_context(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what a known manager makes; nothing where a function is none."""
    if f not in _KNOWN:
        return None
    given = [*xs, *kws.values()]
    if f is np.seterr:
        return _set_errors(builder, xs, kws)
    if f is contextlib.nullcontext and len(given) < 2 and kws.keys() <= {"enter_result"}:
        context = Context(value=given[0] if given else None)
    elif f in (np.errstate, warnings.catch_warnings, contextlib.suppress):
        if not all(x.is_constant for x in given):
            raise Unsound.EFFECTS(f"it calls {f.__name__} with options that are not constants")
        context = _of_constants(builder, f, xs, {name: x.sample for name, x in kws.items()})
    elif f is not contextlib.nullcontext:
        return _filtered(builder, f, xs, kws)
    else:
        raise Unsound.RAISES("nullcontext gets too many arguments")
    context.home = builder.out
    return constant(context)


def _of_constants(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Any]) -> Context:
    if f is contextlib.suppress and not kws:
        builder.inputs.caught |= {getattr(x.sample, "__name__", "BaseException") for x in xs}
        return Context(kinds=tuple([x.sample for x in xs]))
    if f is np.errstate and not xs:
        return error_state(kws)
    if f is warnings.catch_warnings and not xs and kws.keys() <= {"action", "category"}:
        return warning_filter(**kws) if kws else Context(manager=f)
    raise Unsound.EFFECTS(f"it calls {f.__name__} with options that may have side effects")


def _filtered(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Filter warnings for the rest of the context that catches them."""
    catching = [c for c in builder.context if c.manager is warnings.catch_warnings]
    names = ("action", "category") if f is warnings.simplefilter else ("action",)
    given = dict(zip(names, xs, strict=False)) | kws
    known = len(xs) <= len(names) and given.keys() <= {"action", "category"}
    if not catching or not known or not all(x.is_constant for x in given.values()):
        raise Unsound.EFFECTS(
            f"it calls {f.__name__}, which also affects later code: use it inside `with "
            "warnings.catch_warnings()`"
        )
    if catching[-1].home is not builder.out:
        raise Unsound.EFFECTS(f"it calls {f.__name__} in a branch or a loop only")
    context = warning_filter(**{name: x.sample for name, x in given.items()})
    context.home, context.around = builder.out, builder.context
    builder.context = (*builder.context, context)
    return constant(None)


def enter(builder: Builder, manager: Value) -> Value:
    """Enter a context; return what `as` names."""
    context = manager.sample
    if not isinstance(context, Context):
        return builder.call(constant(_way_of(builder, manager, "__enter__")), [manager], {})
    if context.around is not None or context.home is not builder.out:
        raise Unsound.EFFECTS("it enters a context twice, or elsewhere than where it made it")
    context.around = builder.context
    if context.manager is not None:
        if builder.compiled:
            raise NotSupported.COMPILED_CALL("it has a `with` statement")
        builder.context = (*builder.context, context)
    return context.value or constant(None)


def leave(builder: Builder, manager: Value, error: Value) -> Value:
    """Leave a context, with the error that was raised, or `None`; return what that gives."""
    context = manager.sample
    if isinstance(context, Context):
        assert context.around is not None
        builder.context = context.around
        swallowed = isinstance(error.sample, Error) and context.kinds
        return caught_by(builder, error, context.kinds) if swallowed else constant(None)
    raised = [constant(None)] * 3
    if isinstance(error.sample, Error):
        raised = [constant(replace(error.sample, is_class=True)), error, error]
    return builder.call(constant(_way_of(builder, manager, "__exit__")), [manager, *raised], {})


def _way_of(builder: Builder, manager: Value, name: str) -> Any:
    """Return the function that a class in Python has for entering or leaving."""
    found = None
    if manager.is_object:
        found = _classes.method_of(builder.inputs, type(manager.sample), name)
    if found is None:
        raise Unsound.EFFECTS(
            f"it enters {an(type(manager.sample).__name__)}, which may have side effects"
        )
    builder.inputs.caught.add("BaseException")  # which it may swallow
    return found


# -- what is set until it is set back --------------------------------------------------------------


@dataclass(eq=False)
class SavedErrors(StandIn):
    """A part of the state of floating-point errors that `np.seterr` gives back."""

    until: Context


def _set_errors(builder: Builder, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Follow `np.seterr`, which sets a state, or sets it back to one that it gave before."""
    _refuse_on_paths(builder, "it sets the state of floating-point errors")
    given = [x.sample for x in kws.values()]
    saved = next((x.until for x in given if isinstance(x, SavedErrors)), None)
    if saved is None and not xs and all(type(x) is str for x in given):
        saved = error_state(dict(zip(kws, given, strict=True)))
        saved.around = builder.context
        builder.context = (*builder.context, saved)
        builder.settings = {**builder.settings, saved: None}
    else:
        is_complete = kws.keys() == {*_PARTS} and all(isinstance(x, SavedErrors) for x in given)
        is_last = builder.context[-1:] == (saved,) and {x.until for x in given} == {saved}
        if xs or saved is None or not (is_complete and is_last):
            raise Unsound.EFFECTS(
                "it calls np.seterr with options that are not constants: use `with "
                "np.errstate(...)`"
            )
        builder.context = saved.around or ()
        builder.settings = {x: now for x, now in builder.settings.items() if x is not saved}
    return mapping({part: constant(SavedErrors(saved)) for part in _PARTS})


_PARTS = ("divide", "over", "under", "invalid")


def set_global(builder: Builder, name: str, value: Value) -> Value:
    """Note what a global holds from here on."""
    globals_ = builder.frames[-1].globals
    if _variables.is_global_cell(builder, globals_, name):
        return _variables.set_global_in_cell(builder, globals_, name, value)
    if _is_on_path(builder) or not _can_be_set(value):
        _variables.demand_global_cell(builder, globals_, name)
    _refuse_on_paths(builder, f"it assigns the global {name}")
    if builder.inner:
        raise NotSupported.SECOND_ORDER(
            f"it assigns the global {name} inside a nested gradient: return the value instead"
        )
    key = (id(globals_), name)
    if name not in globals_ or value in builder.uncertain or not _can_be_set(value):
        raise Unsound.EFFECTS(f"it assigns the global {name}: return the value instead")
    before = (
        builder.settings[key][0]
        if key in builder.settings
        else builder.global_value(globals_, name)
    )
    if not _can_be_set(before):
        _variables.demand_global_cell(builder, globals_, name)
        raise Unsound.EFFECTS(f"it assigns the global {name}: return the value instead")
    if before.is_constant:
        at = f"{builder.inputs.name_for(globals_, 'g')}[{name!r}]"
        builder.inputs.allow_equal(at, before.sample)
    builder.settings = {**builder.settings, key: (before, value)}
    return constant(None)


def _can_be_set(x: Value) -> bool:
    """Return whether a value is a text, or a number that carries no gradient."""
    if x.is_constant:
        return type(x.sample) in (str, int, bool, float, type(None))
    return x.is_scalar and not x.active


def _is_on_path(builder: Builder) -> bool:
    """Return whether what stands here is not done in every run, in the order of the text."""
    return builder.out is not builder.top or builder.loop is not None or builder.plain


def _refuse_on_paths(builder: Builder, what: str) -> None:
    """Refuse what is not done in every run, in the order of the text."""
    if _is_on_path(builder):
        raise Unsound.EFFECTS(f"{what} in a branch or a loop only")


def settle_settings(builder: Builder) -> None:
    """Write what sets the globals that hold something else at the end.

    Raises `NotSpecializable` where anything else is left otherwise than it was.
    """
    for what, values in builder.settings.items():
        if values is None:
            raise Unsound.EFFECTS(
                "it leaves the handling of floating-point errors changed: use `with "
                "np.errstate(...)`"
            )
        before, now = values
        if before is now or (before.is_constant and value_key(before) == value_key(now)):
            continue
        effects = effects_of(builder, f"an assignment of the global {what[1]}")
        origin = assigned_global(*what)
        if origin not in builder.own:  # what it holds is to be read at entry
            builder.wanted.add(origin)
            raise Unsound.EFFECTS(
                f"it leaves the global {what[1]} changed: return the value instead"
            )
        builder.refuse_all_readers()  # whose pullback would read the global later
        space = next(x for x in builder.inputs.bound.values() if id(x) == what[0])
        given = [effects, constant(space.__setitem__), constant(what[1]), now]
        op = builder.write(NO_RESULT, set_item_at_the_end, given, {})
        mirror(op, lambda builder, _: [], [])
