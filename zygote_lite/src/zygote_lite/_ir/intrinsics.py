"""Functions that only lowered code calls, for syntax that has no function in Python."""

import builtins
import collections
import itertools
import operator
import types
from collections.abc import Callable
from typing import Any, Never

import numpy as np

from zygote_lite._ir.places import is_library, place_of, where
from zygote_lite.errors import DifferentiationError, Fault


def invoke(x: Any, name: str, /, *xs: Any, **kws: Any) -> Any:
    """Call a method."""
    if name == "resize" and isinstance(x, np.ndarray):
        refuse_resize()
    return getattr(x, name)(*xs, **kws)


class LookedUp:
    """A method that was looked up before the arguments of its call were computed.

    Attributes:
        method: the method; or, with an owner, the function that its class has.
        owner: the object whose method it is, or `None` where the method is bound.
    """

    __slots__ = ("method", "owner")

    def __init__(self, method: Any, owner: Any = None) -> None:
        self.method, self.owner = method, owner


WITHOUT_FIELDS = {
    list, dict, set, frozenset, tuple, str, bytes, int, float, bool, complex, collections.deque,
    np.ndarray, np.float64, np.float32, np.int64, np.bool_,
}  # fmt: skip
"""Types whose objects have the methods of their class, and no attributes of their own."""


def look_up(x: Any, name: str, /) -> Any:
    """Look up a method; its arguments are computed next."""
    return LookedUp(getattr(x, name))


def invoke_found(found: Any, name: str, /, *xs: Any, **kws: Any) -> Any:
    """Call a method that was looked up; of Python's own types the object itself is given."""
    if type(found) is not LookedUp:
        return invoke(found, name, *xs, **kws)
    owner = () if found.owner is None else (found.owner,)
    return found.method(*owner, *xs, **kws)


def refuse_resize() -> Never:
    """Refuse to change the size of an array in place: the engine holds references to it."""
    raise Fault.MEMORY(
        f"{where()}: `resize` of an array in place cannot be differentiated: use `np.resize` or "
        "`np.pad`, which return a new array"
    )


def apply(f: Any, xs: Any, /, *keywords: Any) -> Any:
    """Call a function with a sequence of arguments and mappings of keywords."""
    return f(*xs, **join_keywords(f, keywords))


def join_keywords(f: Any, mappings: Any) -> dict[str, Any]:
    """Return the keywords of a call in one dict; raises what Python raises for one given twice."""
    if len(mappings) < 2:
        return mappings[0] if mappings else {}
    joined: dict[str, Any] = {}
    for kws in mappings:
        for name in kws:
            if name in joined:
                f(**joined, **kws)
        joined.update(kws)
    return joined


def unpack(x: Any, count: int, star: int | None, /) -> tuple[Any, ...]:
    """Take a sequence apart, as an assignment to `count` targets does."""
    if not hasattr(type(x), "__iter__"):
        try:
            iter(x)
        except TypeError as error:  # which a number of NumPy raises, for all its `__getitem__`
            raise TypeError(
                f"cannot unpack non-iterable {str(error).split(chr(39))[1]} object"
            ) from None
    if star is None:
        parts = tuple(x if type(x) in (tuple, list) else itertools.islice(iter(x), count + 1))
        if len(parts) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(parts)})")
        if len(parts) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
        return parts
    parts = tuple(iter(x))
    if len(parts) < count - 1:
        raise ValueError(
            f"not enough values to unpack (expected at least {count - 1}, got {len(parts)})"
        )
    after = len(parts) - (count - 1 - star)
    return (*parts[:star], list(parts[star:after]), *parts[after:])


def write_global(here: Any, name: str, value: Any, /) -> None:
    """Give a variable of the module of the function `here` another value."""
    here.__globals__[name] = value


def build_tuple(*items: Any) -> tuple[Any, ...]:
    """Return a tuple."""
    return items


def build_list(*items: Any) -> list[Any]:
    """Return a list."""
    return list(items)


def build_set(*items: Any) -> set[Any]:
    """Return a set."""
    return set(items)


def build_slice(*items: Any) -> slice:
    """Return a slice."""
    return slice(*items)


def build_dict(*items: Any) -> dict[Any, Any]:
    """Return a dict of keys and values that alternate."""
    return dict(zip(items[::2], items[1::2], strict=True))


def join_tuple(*parts: Any) -> tuple[Any, ...]:
    """Return the elements of all parts as a tuple."""
    return tuple(join_list(*parts))


def join_arguments(f: Any, /, *parts: Any) -> tuple[Any, ...]:
    """Return the positional arguments of a call of `f` with `*`."""
    for part in parts:
        if not hasattr(type(part), "__iter__") and not hasattr(type(part), "__getitem__"):
            f(*part)  # raises what Python raises
    return join_tuple(*parts)


def join_list(*parts: Any) -> list[Any]:
    """Return the elements of all parts as a list."""
    out = []
    for part in parts:
        out += list(part)
    return out


def join_set(*parts: Any) -> set[Any]:
    """Return the elements of all parts as a set."""
    return {x for part in parts for x in part}


def join_dict(*parts: Any) -> dict[Any, Any]:
    """Return the entries of all parts as a dict."""
    for part in parts:
        if not hasattr(part, "keys"):
            raise TypeError(f"{type(part).__name__!r} object is not a mapping")
    return {key: value for part in parts for key, value in dict(part).items()}


def join_text(*parts: str) -> str:
    """Return an f-string from its parts."""
    return "".join(parts)


CONVERSIONS: dict[int, Callable[[Any], Any]] = {
    -1: lambda x: x,
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}


def format_value(x: Any, conversion: int, spec: str) -> str:
    """Return one part of an f-string."""
    return format(CONVERSIONS[conversion](x), spec)


def read_cell(cell: Any, name: str, is_own: bool, /) -> Any:
    """Return the value of a variable that functions share."""
    try:
        return cell.cell_contents
    except ValueError:
        pass
    ending = "where it is not associated with a value"
    if is_own:
        raise UnboundLocalError(f"cannot access local variable {name!r} {ending}")
    raise NameError(f"cannot access free variable {name!r} {ending} in enclosing scope")


def write_cell(cell: Any, value: Any, /) -> None:
    """Give a variable that functions share a value."""
    cell.cell_contents = value


def delete_cell(cell: Any, name: str, is_own: bool, /) -> None:
    """Take the value of a variable that functions share away, as `del` does."""
    read_cell(cell, name, is_own)  # which raises where there is none
    del cell.cell_contents


def held_in(cell: Any) -> tuple[Any, ...]:
    """Return, in a tuple, what a variable that functions share holds, if it has a value."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def put_in(cell: Any, held: tuple[Any, ...]) -> None:
    """Give such a variable what it held; without that, no value."""
    if held:
        cell.cell_contents = held[0]
    elif held_in(cell):
        del cell.cell_contents


# -- with --------------------------------------------------------------------------------------


def enter_context(manager: Any) -> Any:
    """Enter a context, as `with` does."""
    kind = type(manager)
    if not hasattr(kind, "__enter__") or not hasattr(kind, "__exit__"):
        missed = " (missed __exit__ method)" if hasattr(kind, "__enter__") else ""
        message = f"{kind.__name__!r} object does not support the context manager protocol"
        raise TypeError(message + missed)
    return type(manager).__enter__(manager)


def frame_refusal(name: str) -> Exception:
    """Return the error for user code that looks at the frames of running code."""
    return Fault.FRAMES(
        f"{where()}: {name} looks at the frames of running code, and what the variables there hold "
        "cannot be followed: pass it on as an argument, or return it"
    )


def refuse_locals(f: Any) -> None:
    """Refuse a user function that reads the variables of frames: those of its callers."""
    reads = type(f) is types.FunctionType and "f_locals" in f.__code__.co_names
    if reads and not is_library(f.__code__.co_filename):
        raise frame_refusal(f"{f.__qualname__} ({place_of(f)})")


def exit_context(manager: Any, raised: Any) -> Any:
    """Leave a context, as `with` does, with the exception that was raised or `None`."""
    if raised is None:
        return type(manager).__exit__(manager, None, None, None)
    refuse_locals(type(manager).__exit__)
    swallowed = type(manager).__exit__(manager, type(raised), raised, raised.__traceback__)
    return swallowed and not isinstance(raised, DifferentiationError)


def resume(iterator: Any, sent: Any, thrown: Any) -> Any:
    """Take the next element for `yield from`: pass on what was sent or thrown in."""
    if thrown is None:
        return next(iterator) if sent is None else iterator.send(sent)
    if isinstance(thrown, GeneratorExit):
        if hasattr(iterator, "close"):
            iterator.close()
        raise thrown
    if not hasattr(iterator, "throw"):
        raise thrown
    return iterator.throw(thrown)


def value_returned(iterator: Any) -> Any:
    """Stand for what an iterator returned that is at its end, in transformed code."""


# -- match -------------------------------------------------------------------------------------


def matches_sequence(x: Any, count: int, star: int | None) -> bool:
    """Return whether `x` is a sequence of a length that a pattern asks for."""
    match x:
        case [*_]:
            return len(x) == count if star is None else len(x) >= count - 1
    return False


def matches_class(x: Any, cls: Any, spec: tuple[int, tuple[str, ...]]) -> bool:
    """Return whether `x` is an instance; which attributes a pattern asks for is not looked at."""
    return isinstance(x, cls)


def _attributes_in_pattern(cls: Any, spec: tuple[int, tuple[str, ...]]) -> tuple[str, ...]:
    count, names = spec
    if count and cls in (int, float, complex, str, bytes, bool, list, tuple, dict, set, frozenset):
        return names
    return (*getattr(cls, "__match_args__", ())[:count], *names)


def class_parts(x: Any, cls: Any, spec: tuple[int, tuple[str, ...]]) -> tuple[Any, ...] | None:
    """Return the attributes that a class pattern looks at, each read once; `None` if one lacks."""
    names = _attributes_in_pattern(cls, spec)
    if len(names) < spec[0] + len(spec[1]):
        return (x,)
    try:
        return tuple([getattr(x, name) for name in names])
    except AttributeError:
        return None


def matches_mapping(x: Any, keys: tuple[Any, ...]) -> bool:
    """Return whether `x` is a mapping; which keys a pattern asks for is not looked at."""
    match x:
        case {}:
            return True
    return False


_MISSING = object()


def mapping_parts(x: Any, keys: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the values that a mapping pattern looks at, each read once; `None` if one lacks."""
    parts = tuple([x.get(key, _MISSING) for key in keys])
    return None if any(part is _MISSING for part in parts) else parts


def mapping_rest(x: Any, keys: tuple[Any, ...]) -> dict[Any, Any]:
    """Return the entries that a mapping pattern leaves over, for its `**rest`."""
    return {key: value for key, value in dict(x).items() if key not in keys}


def set_defaults(f: Any, names: tuple[str, ...], /, *values: Any) -> None:
    """Note where the defaults of a function defined inside came from."""


def note_annotations(x: Any, /, *values: Any) -> None:
    """Note the variables that the annotations of a function or class defined inside name."""


def note_class(cls: Any, names: tuple[Any, ...], held: dict[str, Any], /, *values: Any) -> None:
    """Note where the attributes of a class defined inside came from."""


def run_text(
    kind: str, source: Any, module: Any, variables: Any, is_around: bool, flags: int, /
) -> Any:
    """Run a text or code by `eval` or `exec`.

    Arguments:
        kind: which of them.
        source: the text or code.
        module: the dict of its global variables.
        variables: the dict of its own.
        is_around: whether its own are those of the function that calls.
        flags: of the compiler, which the text inherits.
    """
    return getattr(builtins, kind)(code_of_text(source, kind, flags), module, variables)


def code_of_text(source: Any, kind: str, flags: int) -> Any:
    """Return the code of a text that `eval` or `exec` is given; what is not a text, as it is."""
    if not isinstance(source, str | bytes):
        return source
    return compile(text_as_read(source, kind), "<string>", kind, flags, dont_inherit=True)


def text_as_read(source: Any, kind: str) -> Any:
    """Return a text as `eval` reads it, which takes spaces before it away; `exec` takes none."""
    return source.lstrip(" \t" if isinstance(source, str) else b" \t") if kind == "eval" else source


_FUNCTIONS = (
    apply, build_dict, build_list, build_set, build_slice, build_tuple,
    class_parts, delete_cell, enter_context, exit_context, format_value, invoke, invoke_found,
    join_arguments, join_dict, join_list, join_set, join_text, join_tuple, look_up, mapping_parts,
    mapping_rest, matches_class, matches_mapping, matches_sequence, note_annotations, note_class,
    read_cell, resume, run_text, set_defaults, unpack, value_returned, write_cell, write_global,
)  # fmt: skip
_BUILTINS = (
    "AssertionError", "delattr", "dict", "getattr", "iter", "list", "locals", "next", "set",
    "setattr", "sorted", "super",
)  # fmt: skip
INTRINSICS: dict[str, Any] = {f.__name__: f for f in _FUNCTIONS}
INTRINSICS |= {name: getattr(builtins, name) for name in _BUILTINS}
INTRINSICS |= {"DifferentiationError": DifferentiationError, "operator": operator}
