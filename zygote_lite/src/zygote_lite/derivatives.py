"""Functions that `grad` and its kin have made, by what they are made of: where pickles find them.

`grad(f)` is shown as `<function grad(module:f) at ...>`, and pickled by that name: it is made anew
of the function of that name, or is that function, where `grad` is its decorator. What is made of
other functions (lambdas, closures) can be pickled by `cloudpickle`, which takes functions by value.
"""

import ast
import difflib
import functools
import importlib
import inspect
import re
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from rulescore.faults import counted
from zygote_lite._ir.frames import keep_users_frames
from zygote_lite._ir.names import NOT_BY_NAME, name_of, shown_name
from zygote_lite._tape.notebook import html_of_name
from zygote_lite._tape.validate import names_taken_by, refuse_more, refuse_no_function
from zygote_lite.errors import Fault

__all__ = ["by_name"]

Passed = ParamSpec("Passed")
Answered = TypeVar("Answered")
Maker = TypeVar("Maker", bound=Callable[..., Any])
_makers: dict[str, Callable[..., Any]] = {}
_kept_by_name: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_FROM = "__made_from__"
_MOST_WRAPPERS = 100
_MISSING_FUNCTION = object()
_MODULE = re.compile(r"(?<=\()[\w.]+:")


def by_name(maker: Maker) -> Maker:
    """Have what a function makes of another shown, and pickled, by their names."""

    parameters = [*inspect.signature(maker).parameters.values()][1:]
    known_options = [p.name for p in parameters]
    most = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
    flags = [p.name for p in parameters[most:] if p.default is False]

    @functools.wraps(maker)
    def make(f: Any = _MISSING_FUNCTION, /, *more: Any, **options: Any) -> Any:
        name = "" if f is _MISSING_FUNCTION else _name_of_made(maker.__name__, f, more, options)
        known = _kept_by_name.get(name)
        if (
            known is not None
            and _is_one_function(getattr(known, _FROM), f)
            and "argnum" not in options
        ):
            return known
        try:
            if f is _MISSING_FUNCTION:
                raise _no_function(maker.__name__, options)
            refuse_no_function(f, maker.__name__)
            _refuse_no_option(f, options, known_options, maker.__name__)
            if flags and any(isinstance(x, bool) for x in more[most:]):
                refuse_more(maker.__name__, 1 + most, more[most:], flags)
            if len(more) > most:
                raise Fault.ARGNUMS(
                    f"{maker.__name__} is given {counted(1 + len(more), 'argument')}: give it the "
                    f"function, and give what it returns the arguments, `{maker.__name__}(f)(...)`"
                )
            made = maker(f, *more, **options)
        except BaseException as error:
            __tracebackhide__ = keep_users_frames(error)
            raise
        made.__module__ = __name__
        of = getattr(f, "__qualname__", "")
        shown = _in_words(maker.__name__, shown_name(f).replace(NOT_BY_NAME, ""), more, options)
        is_found = name and "<" not in of and NOT_BY_NAME not in of  # `<locals>`, `<lambda>`
        made.__qualname__ = name if is_found else f"{shown[:-1]}{NOT_BY_NAME})"
        made._repr_html_ = functools.partial(str, html_of_name(_MODULE.sub("", shown)))
        if name:
            setattr(made, _FROM, f)
            _kept_by_name[name] = made
        return made

    _makers[maker.__name__] = make
    named: Any = make
    return named  # type: ignore[no-any-return]


def _refuse_no_option(f: Any, options: Iterable[str], known: list[str], verb: str) -> None:
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            if name in _OF_JAX:
                raise Fault.OPTION_VALUE(
                    f"{verb} has no option `{name}`: leave it out, {_OF_JAX[name]}", TypeError
                )
            if not near and name in names_taken_by(f):
                raise Fault.OPTION_VALUE(
                    f"{verb} has no option `{name}`, which is a parameter of {name_of(f)}: give it "
                    f"to the function that {verb} returns, `{verb}(f)(x, {name}=...)`",
                    TypeError,
                )
            options = " or ".join(f"`{option}`" for option in near or known)
            advice = f"give {options}" if options else "it has none, so leave it out"
            raise Fault.OPTION_VALUE(f"{verb} has no option `{name}`: {advice}", TypeError)


_OF_JAX = {
    "holomorphic": "and take `pullback(f, z)` of a function whose value is complex; "
    "the gradient with respect to a complex number is the conjugate of JAX's",
    "static_argnums": "as the function is not traced, and may branch on the values of arguments",
    "static_argnames": "as the function is not traced, and may branch on the values of arguments",
    "allow_int": "as integers count as real numbers, and their gradient is a float",
}
"""Options of JAX's functions, and what to do without them."""


def _name_of_made(verb: str, f: Any, more: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Return the name of what is made; none for objects and their methods, which have none."""
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, type | types.ModuleType):
        return ""
    name, module = getattr(f, "__qualname__", None), getattr(f, "__module__", None)
    if not isinstance(name, str) or not isinstance(module, str):
        return ""
    if module != __name__ and _names_another(f, module, name):
        return ""
    return _in_words(verb, name if module == __name__ else f"{module}:{name}", more, options)


def _names_another(f: Any, module: str, name: str) -> bool:
    """Return whether the name of a function finds what it wraps, or what wraps it.

    While a decorator runs, its name finds nothing yet, or what an earlier run of a cell has made.
    """
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not f and (_is_wrapped_by(found, f) or _is_wrapped_by(f, found))


def _is_wrapped_by(f: Any, wrapper: Any) -> bool:
    """Return whether a function is what another one wraps, or what that wraps."""
    for _ in range(_MOST_WRAPPERS):
        wrapper = getattr(wrapper, "__wrapped__", None)
        if wrapper is None or wrapper is f:
            break
    return f is not None and wrapper is f


def _is_one_function(f: Any, g: Any) -> bool:
    """Return whether two functions are one. Methods of classes are new each time."""
    return f is g or (isinstance(f, types.MethodType) and isinstance(f.__self__, type) and f == g)


def _no_function(verb: str, options: dict[str, Any]) -> Exception:
    """Return the error for a call with options alone, as decorators are written elsewhere."""
    given = "".join([f", {key}={x!r}" for key, x in options.items()])
    return Fault.NOT_CALLABLE(
        f"{verb} is given no function: write `{verb}(f{given})`, or, above a function, "
        f"`@functools.partial({verb}{given})`"
    )


def _in_words(verb: str, name: str, more: tuple[Any, ...], options: dict[str, Any]) -> str:
    given = [name, *map(repr, more), *(f"{key}={value!r}" for key, value in options.items())]
    return f"{verb}({', '.join(given)})"


class _NameSoFar:
    """The beginning of a name, which pickle takes apart at its dots."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, rest: str) -> Any:
        if rest.startswith("__") and rest.endswith("__"):
            raise AttributeError(rest)
        return __getattr__(f"{self._name}.{rest}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _NameSoFar, (
            self._name,
        )  # protocols before the fourth pickle what has the last part


def __getattr__(name: str) -> Any:
    if name.partition("(")[0] in _makers and name.count("(") > name.count(")"):
        return _NameSoFar(name)
    verb, _, rest = name.partition("(")
    module, _, inside = rest.partition(":")
    is_ours = "(" in module  # of `vmap(grad(module:f))`
    if verb not in _makers or not rest.endswith(")"):
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    inner, options = _inner_and_options((rest if is_ours else inside)[:-1])
    try:
        f = sys.modules[__name__] if is_ours else importlib.import_module(module)
        for part in [inner] if is_ours else inner.split("."):
            f = getattr(f, part)
    except (ImportError, AttributeError):
        raise AttributeError(f"{name} is not found by its name: pickle it by cloudpickle") from None
    if "cloudpickle" in sys.modules:  # by value, so that functions of a notebook are taken along
        sys.modules["cloudpickle"].register_pickle_by_value(sys.modules[__name__])
    if getattr(f, "__qualname__", None) == name:  # as a decorator
        return f
    known = _kept_by_name.get(name)
    if known is not None and not _is_one_function(getattr(known, _FROM), f):
        raise AttributeError(f"{name} is made of another function than the one of that name")
    if known is not None:
        return known
    call: Any = ast.parse(f"call({options})", mode="eval").body
    more = [ast.literal_eval(x) for x in call.args]
    return _makers[verb](f, *more, **{k.arg: ast.literal_eval(k.value) for k in call.keywords})


def _inner_and_options(text: str) -> tuple[str, str]:
    """Return the name of a function, and the options after it."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            return text[:i], text[i + 2 :]
    return text, ""
