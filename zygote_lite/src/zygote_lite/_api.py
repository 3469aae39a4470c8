"""What users call: `pullback`, and the gradients made of it."""

import functools
from collections.abc import Callable, Iterator, Sequence
from numbers import Number
from typing import Any, cast

import numpy as np

from rulescore import Array, Tangent
from zygote_lite._activity import add_addresses, addresses_of, mark_active
from zygote_lite._errors import DifferentiationError
from zygote_lite._generators import Generated
from zygote_lite._intrinsics import build_tuple
from zygote_lite._kinds import (
    DICT,
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    TUPLE,
    VALUE,
    entries_of,
    held_by,
    kind_of,
    owner_of,
)
from zygote_lite._nested import Box, Differentiated, NestedPullback
from zygote_lite._pull import pull
from zygote_lite._recursion import deeper_recursion
from zygote_lite._refusal import name_of
from zygote_lite._state import state
from zygote_lite._store import Store

Argnums = int | Sequence[int]


class Pullback:
    """Map the cotangent of a function's value to those of the function and its arguments.

    `back(dy)` returns `(∂self, ∂x1, ..., ∂xn)`, then those of keyword arguments in their order;
    `None` is "no gradient". It may be called again and again; it leaves the arguments as they
    were.
    """

    def __init__(
        self, back: Any, f: Any, y: Any, xs: tuple[Any, ...], flags: tuple[Any, ...]
    ) -> None:
        self._back, self._f, self._y, self._xs, self._flags = back, f, y, xs, flags

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        _check_fit(dy, self._y, self)
        outer, state.store = state.store, Store()
        store = state.store
        try:
            by_value = self._back(store.add(self._y, dy))
            operands = (self._f, *self._xs)
            _refuse_shared(operands, self._flags, store)
            found = tuple(
                store.collect(x, d) if flag else None
                for x, d, flag in zip(operands, by_value, self._flags, strict=True)
            )
            return own_buffers(found, (dy, operands))  # type: ignore[no-any-return]
        finally:
            store.restore()
            state.store = outer

    def __repr__(self) -> str:
        return f"∂({getattr(self._f, '__name__', type(self._f).__qualname__)})"


def pullback(f: Callable[..., Any], /, *xs: Any, **kws: Any) -> tuple[Any, Pullback]:
    """Return the value of `f(*xs, **kws)` and the function that pulls its cotangent back.

    Arguments:
        f: any callable: a function with a rule, or with Python source, a method, a class, a
            callable object.
        xs, kws: its arguments.

    `back(dy)` returns `(∂self, ∂x1, ..., ∂xn)`, where `∂self` holds the gradients of a closure's
    captured variables or of an object's fields (a `Tangent`), and `None` means "no gradient".
    Raises `NoRuleError` where a gradient passes a function that has neither rule nor source, and
    `UnsupportedSyntaxError` where the source has a construct that cannot be differentiated, both
    with the user's file and line. (Zygote's `_pullback`.)
    """
    return _pullback((True,) * (1 + len(xs) + len(kws)), f, xs, kws)


def _pullback(
    flags: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, Pullback]:
    if not callable(f):
        raise TypeError(f"cannot differentiate {f!r}: it is not callable")
    operands = (f, *xs, *kws.values())
    flags = tuple(
        [flag if kind_of(x) != INERT else None for x, flag in zip(operands, flags, strict=True)]
    )
    outer = state.active, state.captured, state.written
    if state.active is None:
        state.active, state.captured, state.written = {}, {}, {}
    for operand, flag in zip(operands, flags, strict=True):
        if flag:
            add_addresses(operand)
    try:
        with deeper_recursion():
            y, back = pull(flags, map_to_list if f is map else f, *xs, **kws)
    finally:
        state.active, state.captured, state.written = outer
    if isinstance(y, Generated):
        raise DifferentiationError(
            f"{name_of(f)} returns an iterator, whose elements would come after the call: return a "
            "list or a tuple"
        )
    return y, Pullback(back, f, y, operands[1:], flags)


def _inside(how: Any) -> Callable[[Any], Any]:
    """Declare what a function of this module does inside a function that is differentiated."""

    def declare(f: Any) -> Any:
        f.__differentiates__ = (f, how)
        return f

    return declare


def _inside_run(f: Any) -> Any:
    """Declare that a function is simply run inside one that is differentiated: it makes another."""
    return _inside(lambda tape, nodes, xs, kws: (f(*xs, **kws), None))(f)


def _inside_pullback(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    f, *arguments = xs
    run = Differentiated(tape, f, nodes[1:], (True,) * (len(nodes) - 1), arguments, kws)
    back = NestedPullback(run)
    mark_active(back)
    return tape.pull((None, run.at_y, None), build_tuple, run.y, back)


def _inside_gradient(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    f, *arguments = xs
    run = Differentiated(tape, f, nodes[1:], (None, *(True for _ in arguments)), arguments, {})
    return run.value_with(tuple(run.back(Box(_seed(f, run.y), None, tape))[1:]))


def _inside_value_and_grad(f: Any, argnums: Argnums, both: bool) -> Any:
    def how(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        numbers = _argument_numbers(f, argnums, len(xs))
        flags = (None, *(True if i in numbers else None for i in range(len(xs))))
        run = Differentiated(tape, f, nodes, (*flags, *(None for _ in kws)), xs, kws)
        cotangents = run.back(Box(_seed(f, run.y), None, tape))
        found: Any = tuple(cotangents[1 + i] for i in numbers)
        found = found[0] if isinstance(argnums, int) else found
        return run.value_with((Box(run.y, run.at_y, tape), found) if both else found)

    return how


def _inside_jacobian(f: Any, argnum: int) -> Any:
    def how(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        (number,) = _argument_numbers(f, argnum, len(xs))
        flags = (None, *(True if i == number else None for i in range(len(xs))))
        run = Differentiated(tape, f, nodes, (*flags, *(None for _ in kws)), xs, kws)
        rows = []
        for dy in _basis(f, run.y, xs[number], number):
            d = run.back(Box(dy, None, tape))[1 + number]
            rows.append(Box(np.zeros(np.shape(xs[number])), None, tape) if d is None else d)
        values, node = run.value_with(rows)
        stacked, node = tape.pull((None, node), np.array, values)
        shape = (*np.shape(run.y), *np.shape(xs[number]))
        return tape.pull((None, node, None), np.reshape, stacked, shape)

    return how


def map_to_list(f: Any, /, *xs: Any) -> list[Any]:
    """Return a list, as Julia's `map` does: what differentiating `map` itself gives."""
    return list(map(f, *xs))


def gradient(f: Callable[..., Any], /, *xs: Any) -> tuple[Any, ...]:
    """Return the gradient of `f(*xs)`, a real number, with respect to each argument.

    Returns a tuple with one entry for each argument, of the argument's kind and shape; `None`
    where the argument does not matter. Raises `TypeError` where the value is not a real number.
    (Zygote's `gradient`.)
    """
    y, back = _pullback((None, *(True for _ in xs)), f, xs, {})
    return back(_seed(f, y))[1:]


def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., tuple[Any, Any]]:
    """Return a function that computes the value of `f` and its gradient.

    Arguments:
        f: a function whose value is a real number.
        argnums: the positional argument, or arguments, to differentiate; nothing is spent on
            the others. For a sequence the gradient is a tuple.
    """

    @functools.wraps(f)
    def value_and_gradient(*xs: Any, **kws: Any) -> tuple[Any, Any]:
        numbers = _argument_numbers(f, argnums, len(xs))
        flags = (None, *(True if i in numbers else None for i in range(len(xs))))
        y, back = _pullback((*flags, *(None for _ in kws)), f, xs, kws)
        cotangents = back(_seed(f, y))
        if isinstance(argnums, int):
            return y, cotangents[1 + numbers[0]]
        return y, tuple(cotangents[1 + i] for i in numbers)

    how = _inside_value_and_grad(f, argnums, both=True)
    return _inside(how)(value_and_gradient)  # type: ignore[no-any-return]


def grad(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`, as `value_and_grad` does."""
    both = value_and_grad(f, argnums)

    @functools.wraps(f)
    def gradient_of(*xs: Any, **kws: Any) -> Any:
        return both(*xs, **kws)[1]

    how = _inside_value_and_grad(f, argnums, both=False)
    return _inside(how)(gradient_of)  # type: ignore[no-any-return]


def jacobian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `f`, by one pullback for each output.

    Arguments:
        f: a function from a real number or array to a real number or array.
        argnum: the positional argument to differentiate.

    The Jacobian has the shape of the value followed by that of the argument.
    """

    @functools.wraps(f)
    def jacobian_of(*xs: Any, **kws: Any) -> Any:
        (number,) = _argument_numbers(f, argnum, len(xs))
        flags = (None, *(True if i == number else None for i in range(len(xs))))
        y, back = _pullback((*flags, *(None for _ in kws)), f, xs, kws)
        rows = []
        for dy in _basis(f, y, xs[number], number):
            d = back(dy)[1 + number]
            rows.append(np.zeros(np.shape(xs[number])) if d is None else d)
        return np.reshape(np.array(rows), (*np.shape(y), *np.shape(xs[number])))

    return _inside(_inside_jacobian(f, argnum))(jacobian_of)  # type: ignore[no-any-return]


def _basis(f: Any, y: Any, x: Any, number: int) -> Iterator[Any]:
    """Yield the cotangents of a value that pick out one of its entries each."""
    if not _is_real_array(y) or not _is_real_array(x):
        raise TypeError(
            f"the Jacobian of {name_of(f)} needs real numbers or arrays: its value is "
            f"{_describe(y)}, its argument {number} is {_describe(x)}"
        )
    if np.ndim(y) == 0:
        yield _seed(f, y)
        return
    for i in range(np.size(y)):
        dy = np.zeros(np.shape(y), y.dtype if y.dtype.kind == "f" else float)
        dy.flat[i] = 1
        yield dy


def hessian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `f`, whose value is a real number.

    The Hessian has the shape of the argument twice. The gradient is differentiated in reverse
    once for each entry of the argument.
    """
    return jacobian(grad(f, argnum), argnum)


def hvp(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function of `f`'s arguments and a vector: the Hessian times the vector.

    Arguments:
        f: a function whose value is a real number.
        argnum: the positional argument to differentiate twice.

    The returned function takes the arguments of `f` and, last, a vector of the kind and shape
    of the differentiated one. The Hessian itself is never formed.
    """
    derivative = grad(f, argnum)

    @functools.wraps(f)
    def hessian_times_vector(*xs: Any, **kws: Any) -> Any:
        *arguments, v = xs
        (number,) = _argument_numbers(f, argnum, len(arguments))
        flags = (None, *(True if i == number else None for i in range(len(arguments))))
        _, back = _pullback((*flags, *(None for _ in kws)), derivative, tuple(arguments), kws)
        return back(v)[1 + number]

    return hessian_times_vector


def _argument_numbers(f: Any, argnums: Argnums, count: int) -> list[int]:
    numbers = list(argnums) if isinstance(argnums, Sequence) else [argnums]
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in numbers)
    if not whole or isinstance(argnums, str):
        raise TypeError(f"argnums must be an int or a sequence of ints, and it is {argnums!r}")
    for n in numbers:
        if not -count <= n < count:
            raise TypeError(
                f"argnums {argnums} of {name_of(f)}: it was called with {count} positional "
                f"argument{'s' * (count != 1)}; only these can be differentiated"
            )
    return [n % count for n in numbers]


def _check_fit(dy: Any, y: Any, back: Any) -> None:
    """Raise where a cotangent is not of the shape and structure of the value."""
    if dy is None:
        return
    kind = kind_of(y)
    if kind == VALUE:
        numeric = isinstance(dy, Number | np.generic | Array)
        fits = numeric and np.shape(cast(Any, dy)) == np.shape(y)
    elif kind in (TUPLE, LIST):
        fits = isinstance(dy, tuple if kind == TUPLE else list) and len(dy) == len(y)
    elif kind == DICT:
        fits = isinstance(dy, dict) and dy.keys() <= y.keys()
    elif kind == OBJECT:
        names = {str(name) for name, _ in entries_of(y)}
        fits = isinstance(dy, Tangent) and set(dy) <= names
    else:
        return
    if not fits:
        raise TypeError(
            f"the cotangent given to {back!r} is {_describe(dy)}, and the value is {_describe(y)}: "
            "they must have the same shape and structure"
        )
    if kind >= TUPLE:
        for key, value in entries_of(y):
            if kind in (TUPLE, LIST) or key in dy:
                _check_fit(dy[key], value, back)


def _seed(f: Any, y: Any) -> Any:
    """Return the cotangent one of a real number, of its kind."""
    if type(y) is float or type(y) is int:
        return 1.0
    if _is_real_array(y) and np.ndim(y) == 0:
        if isinstance(y, np.generic):
            return y.dtype.type(1) if y.dtype.kind == "f" else 1.0
        return np.ones_like(y, dtype=y.dtype if y.dtype.kind == "f" else float)
    raise TypeError(
        f"the gradient of {name_of(f)} needs a real number as its value, and it is {_describe(y)}; "
        "for other values use `pullback` or `jacobian`"
    )


def _is_real_array(y: Any) -> bool:
    if isinstance(y, bool | np.bool_) or y is None:
        return False
    if isinstance(y, int | float):
        return True
    return getattr(getattr(y, "dtype", None), "kind", None) in ("i", "u", "f")


def _describe(y: Any) -> str:
    if hasattr(y, "dtype") and hasattr(y, "shape"):
        return f"{type(y).__name__} of shape {y.shape} and dtype {y.dtype}"
    if isinstance(y, list | tuple):
        return f"{type(y).__name__} of length {len(y)}"
    return f"{type(y).__name__} ({y!r})" if not callable(y) else type(y).__name__


def own_buffers(d: Any, held: Any) -> Any:
    """Return cotangents whose arrays share memory with nothing else, so that they may be changed.

    Arguments:
        d: cotangents, in tuples, lists, dicts and Tangents.
        held: what the arrays must not share memory with.
    """
    seen = {id(owner_of(x)) for x in _arrays_of(held)}
    return _owned(d, seen)


def _owned(d: Any, seen: set[int]) -> Any:
    if isinstance(d, np.ndarray):
        owner = owner_of(d)
        if id(owner) in seen or not d.flags.writeable or owner.size != d.size:
            d = np.array(d)
            owner = d
        seen.add(id(owner))
        return d
    if isinstance(d, list):
        return [_owned(x, seen) for x in d]
    if isinstance(d, tuple):
        parts = [_owned(x, seen) for x in d]
        return type(d)(*parts) if hasattr(d, "_fields") else tuple(parts)
    if isinstance(d, dict):
        return {key: _owned(x, seen) for key, x in d.items()}
    if isinstance(d, Tangent):
        return Tangent(d._primal, **{name: _owned(x, seen) for name, x in d.items()})
    return d


def _arrays_of(x: Any) -> list[np.ndarray[Any, Any]]:
    found: list[np.ndarray[Any, Any]] = []
    seen: set[int] = set()
    stack = [x]
    while stack:
        value = stack.pop()
        if isinstance(value, np.ndarray):
            found.append(value)
        elif kind_of(value) >= FUNCTION and id(value) not in seen:
            seen.add(id(value))
            is_function = kind_of(value) == FUNCTION
            stack += held_by(value) if is_function else [v for _, v in entries_of(value)]
    return found


def _refuse_shared(operands: Any, flags: Any, store: Store) -> None:
    """Two arguments that share a list or an object have no gradients that can be told apart."""
    owners: dict[int, int] = {}
    memory: dict[int, int] = {}
    for position, (x, flag) in enumerate(zip(operands, flags, strict=True)):
        if not flag:
            continue
        for array in _arrays_of(x) if store.shadows else ():
            owner = owner_of(array)
            first = memory.setdefault(id(owner), position)
            if first != position and id(owner) in store.shadows:
                raise DifferentiationError(
                    f"arguments {first} and {position} are one array, or views of one (argument 0 "
                    "is the function itself), and it is written in place, so that their gradients "
                    "cannot be told apart: pass a copy as one of them"
                )
        for identity in addresses_of(x):
            first = owners.setdefault(identity, position)
            if first != position and identity in store.entries and store.entries[identity][1]:
                shared = store.entries[identity][0]
                raise DifferentiationError(
                    f"arguments {first} and {position} share one {type(shared).__name__} "
                    "(argument 0 is the function itself), so that their gradients cannot be told "
                    "apart: pass a copy as one of them"
                )


for _maker in (grad, value_and_grad, jacobian, hessian, hvp):
    _inside_run(_maker)
_inside(_inside_gradient)(gradient)
_inside(_inside_pullback)(pullback)
