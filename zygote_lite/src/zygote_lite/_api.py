"""What users call: `pullback`, and the gradients made of it."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from zygote_lite._activity import add_addresses
from zygote_lite._boundary import (
    check_fit,
    describe,
    is_real_array,
    own_buffers,
    refuse_shared,
    refuse_shared_arrays,
)
from zygote_lite._boxes import Box, box
from zygote_lite._errors import DifferentiationError
from zygote_lite._generators import Generated
from zygote_lite._guard import Stamps, refuse_overwritten, stamp
from zygote_lite._jitted import is_jitted, mark, original
from zygote_lite._kinds import (
    INERT,
    kind_of,
)
from zygote_lite._nested import Differentiated
from zygote_lite._optimize._entry import Entries, entries_of
from zygote_lite._pull import pull
from zygote_lite._recursion import deeper_recursion
from zygote_lite._refusal import name_of
from zygote_lite._rules_inside import pullback_inside
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
        self,
        back: Any,
        f: Any,
        y: Any,
        xs: tuple[Any, ...],
        flags: tuple[Any, ...],
        stamps: Stamps,
    ) -> None:
        self._back, self._f, self._y, self._xs, self._flags = back, f, y, xs, flags
        self._stamps = stamps

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        check_fit(dy, self._y, self)
        if self._stamps:
            refuse_overwritten(self._stamps, name_of(self._f))
        outer, state.store = state.store, Store()
        store = state.store
        try:
            by_value = self._back(store.add(self._y, dy))
            operands = (self._f, *self._xs)
            refuse_shared(operands, self._flags, store)
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
    f = original(f)
    operands = (f, *xs, *kws.values())
    flags = tuple(
        [flag if kind_of(x) != INERT else None for x, flag in zip(operands, flags, strict=True)]
    )
    outer = state.active, state.captured, state.written
    if state.active is None:
        state.active, state.captured, state.written = {}, {}, {}
        state.clean.clear()
    for operand, flag in zip(operands, flags, strict=True):
        if flag:
            add_addresses(operand)
    try:
        with deeper_recursion():
            y, back = pull(flags, map_to_list if f is map else f, *xs, **kws)
        if state.written:
            refuse_shared_arrays(operands, flags, state.written)
        stamps = stamp(state.written) if state.written and outer[0] is None else []
    finally:
        state.active, state.captured, state.written = outer
        if state.active is None:
            state.clean.clear()
    if isinstance(y, Generated):
        raise DifferentiationError(
            f"{name_of(f)} returns an iterator, whose elements would come after the call: return a "
            "list or a tuple"
        )
    return y, Pullback(back, f, y, operands[1:], flags, stamps)


def _inside(how: Any) -> Callable[[Any], Any]:
    """Declare what a function of this module does inside a function that is differentiated."""

    def declare(f: Any) -> Any:
        f.__differentiates__ = (f, how)
        return f

    return declare


def _inside_run(f: Any) -> Any:
    """Declare that a function is simply run inside one that is differentiated: it makes another."""
    return _inside(lambda tape, nodes, xs, kws: (f(*xs, **kws), None))(f)


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


def _inside_hvp(f: Any, derivative: Any, argnum: int) -> Any:
    def how(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        *arguments, v = xs
        last = len(xs)  # of the operands: the vector
        (number,) = _argument_numbers(f, argnum, len(arguments))
        flags = (None, *(True if i == number else None for i in range(len(arguments))))
        given = (*nodes[:last], *nodes[last + 1 :])
        every = (*flags, *(None for _ in kws))
        run = Differentiated(tape, derivative, given, every, arguments, kws)
        return run.value_with(run.back(box(v, nodes[last], tape))[1 + number])

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
    compiled, f = is_jitted(f), original(f)
    fast = entries_of(f, len(xs), tuple(range(len(xs))), False, compiled) if xs else None
    if fast is not None:
        for enter in fast.enters:
            found = enter(f, *xs)
            if found is not None:
                return found[1]  # type: ignore[no-any-return]
    y, back = _pullback((None, *(True for _ in xs)), f, xs, {})
    found = back(_seed(f, y))[1:]
    if fast is not None:
        fast.note(f, xs)
    return found


def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, *, compile: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that computes the value of `f` and its gradient.

    Arguments:
        f: a function whose value is a real number.
        argnums: the positional argument, or arguments, to differentiate; nothing is spent on
            the others. For a sequence the gradient is a tuple.
        compile: whether to compile it with Numba (`pip install "zygote_lite[jit]"`), at the first
            call with arguments of certain types. Scalar code qualifies, and loops over entries of
            arrays; a function that does not runs as ever, after one warning that says why. Where
            the value is Python's float on one path and NumPy's on another, it is NumPy's.
    """
    compiled = compile or is_jitted(f)
    f = original(f)
    fast: dict[int, Entries | None] = {}

    @functools.wraps(f)
    def value_and_gradient(*xs: Any, **kws: Any) -> tuple[Any, Any]:
        known = fast.get(len(xs))
        if known is None and not kws and len(xs) not in fast:
            numbers = _argument_numbers(f, argnums, len(xs))
            single = isinstance(argnums, int)
            known = entries_of(f, len(xs), tuple(numbers), single, compiled) if numbers else None
            fast[len(xs)] = known
        if known is not None and not kws:
            for enter in known.enters:
                found = enter(f, *xs)
                if found is not None:
                    return found  # type: ignore[no-any-return]
        numbers = _argument_numbers(f, argnums, len(xs))
        flags = (None, *(True if i in numbers else None for i in range(len(xs))))
        y, back = _pullback((*flags, *(None for _ in kws)), f, xs, kws)
        cotangents = back(_seed(f, y))
        if known is not None and not kws:
            known.note(f, xs)
        if isinstance(argnums, int):
            return y, cotangents[1 + numbers[0]]
        return y, tuple(cotangents[1 + i] for i in numbers)

    how = _inside_value_and_grad(f, argnums, both=True)
    return _inside(how)(value_and_gradient)  # type: ignore[no-any-return]


def grad(
    f: Callable[..., Any], argnums: Argnums = 0, *, compile: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`, as `value_and_grad` does."""
    both = value_and_grad(f, argnums, compile=compile)
    f = original(f)

    @functools.wraps(f)
    def gradient_of(*xs: Any, **kws: Any) -> Any:
        return both(*xs, **kws)[1]

    how = _inside_value_and_grad(f, argnums, both=False)
    return _inside(how)(gradient_of)  # type: ignore[no-any-return]


def jit(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` compiled with Numba: for its value, and wherever its gradient is asked for.

    Arguments:
        f: a function of numbers and arrays whose value is a number, or an array that it makes.

    It is compiled at its first call with arguments of certain types; `value_and_grad`, `grad` and
    `gradient` of it compile the gradient too. What it gives is what `f` gives, its exceptions
    too; but a float that is Python's or NumPy's, as it happens, is always NumPy's. Where it does
    not qualify (see `value_and_grad`) it runs as `f`, after one warning.
    """
    f = original(f)
    fast: dict[int, Entries | None] = {}

    @functools.wraps(f)
    def compiled(*xs: Any, **kws: Any) -> Any:
        known = fast.get(len(xs))
        if known is not None and not kws:
            for enter in known.enters:
                found = enter(f, *xs)
                if found is not None:
                    return found[0]
        y = f(*xs, **kws)
        if not kws:
            if known is None:
                known = fast[len(xs)] = entries_of(f, len(xs), (), False, True)
            if known is not None:
                known.note(f, xs)
        return y

    mark(compiled, f)
    return compiled


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
    if not is_real_array(y) or not is_real_array(x):
        raise TypeError(
            f"the Jacobian of {name_of(f)} needs real numbers or arrays: its value is "
            f"{describe(y)}, its argument {number} is {describe(x)}"
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
    fast: dict[int, Entries | None] = {}

    @functools.wraps(f)
    def hessian_times_vector(*xs: Any, **kws: Any) -> Any:
        *arguments, v = xs
        (number,) = _argument_numbers(f, argnum, len(arguments))
        known = fast.get(len(xs))
        if known is None and not kws and len(xs) not in fast:
            known = entries_of(f, len(arguments), (number,), True, twice=True)
            fast[len(xs)] = known
        if known is not None and not kws:
            for enter in known.enters:
                found = enter(f, *xs)
                if found is not None:
                    return found
        flags = (None, *(True if i == number else None for i in range(len(arguments))))
        _, back = _pullback((*flags, *(None for _ in kws)), derivative, tuple(arguments), kws)
        found = back(v)[1 + number]
        if known is not None and not kws:
            known.note(f, xs)
        return found

    how = _inside_hvp(f, derivative, argnum)
    return _inside(how)(hessian_times_vector)  # type: ignore[no-any-return]


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


def _seed(f: Any, y: Any) -> Any:
    """Return the cotangent one of a real number, of its kind."""
    if type(y) is float or type(y) is int:
        return 1.0
    if is_real_array(y) and np.ndim(y) == 0:
        if isinstance(y, np.generic):
            return y.dtype.type(1) if y.dtype.kind == "f" else 1.0
        return np.ones_like(y, dtype=y.dtype if y.dtype.kind == "f" else float)
    raise TypeError(
        f"the gradient of {name_of(f)} needs a real number as its value, and it is {describe(y)}; "
        "for other values use `pullback` or `jacobian`"
    )


for _maker in (grad, value_and_grad, jit, jacobian, hessian, hvp):
    _inside_run(_maker)
_inside(_inside_gradient)(gradient)
_inside(pullback_inside)(pullback)
