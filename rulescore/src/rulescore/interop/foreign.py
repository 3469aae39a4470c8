"""Functions of a host inside NumPy code: what `rules_torch` and `rules_jax` have in common.

A `Foreign` is a function of arrays whose value another library computes, and differentiates. Its
`record` gives the value and a `Backward`, the pullback as a function of the cotangent and of the
arguments. That is a `Foreign` in turn, so there are derivatives of every order.
"""

import importlib
import inspect
import traceback
import types
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from rulescore._declaring.ruleset import RuleSet
from rulescore._errors import Fault
from rulescore._project import project, sequence_like
from rulescore._tangent import Tangent
from rulescore.faults import an

__all__ = [
    "Foreign", "Backward", "Memory", "declare", "leaves_along", "rebuilt_like", "reasons",
    "imported", "is_number", "sequence_like", "unseen",
]  # fmt: skip
Order = Callable[[dict[Any, Any]], Iterable[Any]]
Leaves = Callable[[Any], Iterable[Any]]
Body = TypeVar("Body", bound=Callable[..., Any])


def imported(module: str, library: str) -> Any:
    """Return a module of a plugin, which imports a library.

    Raises `ModuleNotFoundError`, with what to install, where the library is missing.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in (library, f"{library}lib"):
            raise
        extra = f"{module.partition('.')[0]}[{library}]"
        told = f'{library} is not installed here: run `pip install "{extra}"`'
        raise ModuleNotFoundError(Fault.HOST.message(told), name=library) from None


class Foreign:
    """Call a function of a host on arrays of NumPy.

    A host derives its class from this one, with the methods `run` and `record`, which take what
    the function takes.

    Arguments:
        f: the function of the host.
        due: what it has to be, in words.
    """

    def __init__(self, f: Any, due: str = "a function of a host") -> None:
        if not callable(f):
            text = f"expected {due}, found {type(f).__name__}: give the function itself"
            raise Fault.FOREIGN.of(TypeError, text)
        self.f = f

    @property
    def name(self) -> str:
        """The name of the function in messages."""
        return str(getattr(self.f, "__name__", None) or type(self.f).__name__)

    def __call__(self, /, *xs: Any, **options: Any) -> Any:
        """Return the value on arrays, as arrays; what the host cannot take raises RC019."""
        try:
            return self.run(*xs, **options)
        except Exception as error:
            self.explain(error, xs)
            raise

    def recorded(
        self, /, *xs: Any, **options: Any
    ) -> "tuple[Any, Backward, tuple[str | None, ...]]":
        """Return what `record` does; what the host cannot take raises RC019.

        A `NotImplementedError` is left as it is: to an AD it says that there is no rule.
        """
        try:
            return self.record(*xs, **options)
        except Exception as error:
            if not isinstance(error, NotImplementedError):
                self.explain(error, xs)
            raise

    def apply(self, *xs: Any, **options: Any) -> Any:
        """Call the function itself; what compiled code raises here has no frame of the plugin."""
        return self.f(*xs, **options)

    def explain(self, error: Exception, xs: tuple[Any, ...]) -> None:
        """Give an error of the plugin its code, and one of the function a note of the arguments.

        Raises `TypeError` instead where the function was given data of another library.
        """
        data = next(filter(is_data, leaves_along(xs, xs)), None)
        if data is not None and isinstance(error, TypeError | ValueError | RuntimeError):
            raise Fault.FOREIGN.of(
                TypeError,
                f"{self.name} is given {an(type(data).__name__)}, and takes arrays: pass "
                f"`{'.to_numpy()' if hasattr(data, 'to_numpy') else 'np.asarray(...)'}` of it",
            ) from error
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package != type(self).__module__.partition(".")[0]:
            given = [f"{x.dtype} of shape {x.shape}" for x in leaves_along(xs, xs) if is_array(x)]
            error.add_note(f"({self.name} was given {', '.join(given) or 'no array'})")
        elif isinstance(error, TypeError | RuntimeError):
            error.args = (Fault.FOREIGN.message(str(error)),)

    def run(self, *xs: Any, **options: Any) -> Any:
        """Return the value."""
        raise NotImplementedError

    def record(self, /, *xs: Any, **options: Any) -> "tuple[Any, Backward, tuple[str | None, ...]]":
        """Return the value, its pullback, and the `reasons` why cotangents are refused."""
        raise NotImplementedError


class Backward(Foreign):
    """The pullback of a call, as a function of the cotangent, the function and the arguments.

    Its value is a tuple of their cotangents, that of the function first. The option `at` is the
    index of the cotangent that is asked for; others may be `None`. The option `held` is a dict that
    belongs to one call of a pullback. It keeps cotangents, by their indices, that were computed
    along with another.
    """


class Memory:
    """Memory of a host that one array has for itself: `np.asarray` of it is that array.

    An AD may follow writes into it, as into memory of NumPy's own.

    Arguments:
        array: an array whose memory nobody else reads or writes.
    """

    is_owned = True

    def __init__(self, array: Any) -> None:
        self.array, self.__array_interface__ = array, array.__array_interface__


OfWhole = Callable[..., Callable[[Any], Any]]


def declare(
    rule: RuleSet, kind: type, record: Callable[..., Any], of_whole: OfWhole | None = None
) -> None:
    """Declare the rules for calling a kind of `Foreign`, its `Backward` among them.

    Arguments:
        rule: the rule set.
        kind: the host's class.
        record: a function of the plugin, `record(f, *xs, **options)`, which returns
            `f.record(*xs, **options)`. It has a rule, so that an AD that differentiates the rule
            of a call does not look into the host.
        of_whole: makes the part of a pullback for an integer of Python, of `(record, f, xs,
            options, i, why)`. Without it that has no cotangent, or is refused.
    """

    @rule.method(project)
    @_annotated(x=kind)
    def _(dx: object, x: Any) -> Any:
        return dx  # it goes by value: an AD does not look into it

    @rule.of_instances
    @_annotated(f=kind)
    def _(f: Any, /, *xs: object, **options: Any) -> Any:
        y, back, why = record(f, *xs, **options)
        return y, (begun, parts_of(record, of_whole, f, xs, options, back, why))

    declare_record(rule, kind, record, of_whole)


def _annotated(**types: type) -> Callable[[Body], Body]:
    """Annotate parameters of a body with types that are known as the program runs."""

    def annotate(body: Body) -> Body:
        body.__annotations__.update(types)
        return body

    return annotate


def declare_record(
    rule: RuleSet, kind: type, record: Callable[..., Any], of_whole: OfWhole | None = None
) -> None:
    """Declare the rule for `record(f, *xs, **options)`, of a kind of function `f`."""

    @rule(record)
    @_annotated(f=kind)
    def _(f: Any, /, *xs: object, **options: Any) -> Any:
        y, back, why = record(f, *xs, **options)
        parts = parts_of(record, of_whole, f, xs, options, back, why)
        return (y, back, why), (begun_of_first, parts)


def parts_of(
    record: Any, of_whole: Any, f: Any, xs: tuple[Any, ...], options: Any, back: Any, why: Any
) -> tuple[Any, ...]:
    """Return the parts of a pullback, for the function and for each argument."""
    parts = [part_at(back, f, xs, 0, why[0])]
    for i, x in enumerate(xs):
        if of_whole is not None and type(x) is int:
            parts.append(of_whole(record, f, xs, options, i, why[i + 1]))
        else:
            parts.append(part_at(back, f, xs, i + 1, why[i + 1]))
    return tuple(parts)


def part_of_whole(
    record: Any, f: Any, xs: tuple[Any, ...], options: Any, i: int, why: str | None
) -> Callable[[Any], Any]:
    """Return the part of a pullback for an integer of Python: that of the same number as a float.

    An AD asks for it where the integer is a factor, as in `y * 2`, and may drop it. It is refused
    where the function needs an integer.
    """

    def part(shared: Any) -> Any:
        if shared[0] is None:
            return None
        given = (*xs[:i], float(xs[i]), *xs[i + 1 :])
        try:
            back = record(f, *given, **options)[1]
        except Exception as error:
            if not why:
                return None
            raise NotImplementedError(why) from error
        return back(shared[0], f, *given, at=i + 1, held={})[i + 1]

    return part


def is_of_form(x: Any) -> bool:
    """Return whether an argument is a tuple or a list of integers alone, as a shape is."""
    return isinstance(x, tuple | list) and all(isinstance(n, int) for n in x)


def begun(dy: Any) -> tuple[Any, dict[int, Any]]:
    """Return what the parts of a pullback share in one call: the cotangent, and the dict `held`."""
    return dy, {}


def begun_of_first(dy: Any) -> tuple[Any, dict[int, Any]]:
    """Return the same for `record`, whose value begins with that of the function."""
    return None if dy is None else dy[0], {}


def part_at(back: Any, f: Any, xs: tuple[Any, ...], i: int, why: str | None) -> Any:
    """Return the part of a pullback for the function (0) or one of its arguments."""
    if why == "":
        return None

    def part(shared: Any) -> Any:
        if why is not None:
            raise NotImplementedError(why)
        if shared[0] is None:
            return None
        return back(shared[0], f, *xs, at=i, held=shared[1])[i]

    return part


def reasons(
    f: Foreign,
    host: str,
    xs: tuple[Any, ...],
    leaves: Leaves,
    has_own: bool = False,
    instead: str = "give the arrays that it holds as arguments",
) -> tuple[str | None, ...]:
    """Return for a function and its arguments why they have no cotangent; `None` if they have.

    Arguments:
        f, xs: the function and its arguments; integers in these have no cotangent.
        host: the name of the library.
        leaves: the function that gives the leaves of a tree.
        has_own: whether the function has a cotangent itself, as a module has by its parameters.
        instead: what to do about an object in which the host finds no arrays.

    An empty text is for a function without a cotangent: it is `None`, and not refused.
    """
    words = (
        f"{f.name} is given integers, by which {host} has no gradient: convert them to floats, or "
        "leave them out by `argnums`"
    )
    each = [
        words if any(map(_is_whole, leaves(x))) else unseen(f, host, x, leaves, instead) for x in xs
    ]
    return None if has_own else "", *each


def unseen(f: Foreign, host: str, x: Any, leaves: Leaves, instead: str) -> str | None:
    """Return why an argument has no cotangent, if the host passes by what an object in it holds.

    Arguments:
        f, host, leaves, instead: as for `reasons`.
        x: the argument.
    """
    for leaf in leaves(x):
        if _may_hold(leaf):
            return (
                f"{f.name} is given {an(_kind_of(leaf))}, and {host} has no gradient by what that "
                f"holds: {instead}"
            )
    return None


def _may_hold(x: Any) -> bool:
    """Return whether a leaf of the arguments may hold numbers."""
    x = inspect.unwrap(x) if callable(x) and not isinstance(x, type) else x
    if is_number(x) or isinstance(x, int | str | bytes | type | np.dtype | np.ufunc | Enum):
        return False
    if isinstance(x, types.BuiltinFunctionType):  # also a method, of what it is bound to
        return not isinstance(x.__self__, types.ModuleType | type | None)
    if isinstance(x, types.FunctionType):
        is_of_library = x.__module__.partition(".")[0] in _LIBRARIES
        return not is_of_library and bool(x.__closure__ or x.__defaults__ or x.__kwdefaults__)
    is_of_host = type(x).__module__.partition(".")[0] in _LIBRARIES
    if x is None or not hasattr(x, "__dict__"):  # as a dtype or a device of the host has none
        return x is not None and not is_of_host
    plain = all(isinstance(held, int | str | bytes | type | None) for held in vars(x).values())
    return is_of_host or not plain


def _kind_of(x: Any) -> str:
    return "function" if isinstance(x, types.FunctionType) else type(x).__name__


_LIBRARIES = ("jax", "jaxlib", "torch", "numpy", "math", "operator")


def is_array(x: Any) -> bool:
    """Return whether an argument is an array of NumPy, or one of its numbers."""
    return isinstance(x, np.ndarray | np.generic)


def is_data(x: Any) -> bool:
    """Return whether an argument is of no host's library, and NumPy can make it an array.

    Such is a `Series` of pandas.
    """
    t = type(x)
    is_of_host = is_array(x) or t.__module__.partition(".")[0] in _LIBRARIES
    return hasattr(t, "__array__") and not is_of_host


def is_number(x: Any) -> bool:
    """Return whether a leaf of the arguments becomes an array of the host."""
    return is_array(x) or isinstance(x, float | complex)


def _is_whole(x: Any) -> bool:
    if is_array(x):
        return bool(x.dtype.kind in "iu")
    return isinstance(x, int) and not isinstance(x, bool)


def leaves_along(y: Any, dy: Any, order: Order = list, skips_none: bool = False) -> list[Any]:
    """Return the leaves of a cotangent: for each leaf of its value one, or `None`.

    Arguments:
        y: the value: arrays, and tuples, lists, dicts and `Tangent`s of them.
        dy: its cotangent: of the same structure, or `None` in the place of some parts.
        order: a function of a dict that returns its keys in the order of the host.
        skips_none: whether the host does not count `None` in the value as a leaf.
    """
    if isinstance(y, Tangent):
        y = dict(y)
        dy = None if dy is None else dict(dy)
    if isinstance(y, dict):
        given = {} if dy is None else dy
        pairs = [(y[name], given.get(name)) for name in order(y)]
    elif isinstance(y, list | tuple):
        pairs = [*zip(y, [None] * len(y) if dy is None else dy, strict=True)]
    else:
        return [] if y is None and skips_none else [dy]
    return [d for part, entry in pairs for d in leaves_along(part, entry, order, skips_none)]


def rebuilt_like(tree: Any, leaves: Iterator[Any]) -> Any:
    """Return a tree of the same structure, with the next of other leaves for each of its own."""
    if isinstance(tree, Tangent):
        fields = {name: rebuilt_like(entry, leaves) for name, entry in dict(tree).items()}
        return Tangent(tree._primal, **fields)
    if isinstance(tree, dict):
        return {name: rebuilt_like(entry, leaves) for name, entry in tree.items()}
    if isinstance(tree, list | tuple):
        return sequence_like(tree, [rebuilt_like(entry, leaves) for entry in tree])
    return next(leaves)
