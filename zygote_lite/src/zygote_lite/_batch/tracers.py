"""What stands for an entry of a batch, while the function of an entry runs.

Inside of a gradient, batching rules are given arrays of whole batches. They are arrays of another
library, as rules take them (NEP 13, NEP 18): each function of NumPy that a rule calls is called on
the tape around. So the rule's own code need not be recorded.
"""

import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, Never

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from rulescore import Array
from zygote_lite._ir.operators import BINARY, REFLECTED
from zygote_lite.errors import DifferentiationError


class NotBatched(DifferentiationError):  # noqa: N818 - no error to whoever calls `vmap`
    """Tell why a function is not run for a whole batch at once."""


class Tracer:
    """Stand for an entry of a batch, or for a value that is differentiated around it.

    Attributes:
        run: the run of a batch that it belongs to.
        value: the whole batch, whose first axis is that of the batch; or the value itself. It may
            be the entry of a batch around this one.
        node: its number on the tape around.
        batched: whether it differs between entries.
        plain: whether the entries are Python's numbers, and not NumPy's.
        is_array: whether an entry without axes is an array, which can be written to, and no number.

    Nothing can be done with it but by the run: whatever Python or C would ask of it is refused.
    """

    __slots__ = ("batched", "is_array", "node", "plain", "run", "value")
    __array_ufunc__ = None

    def __init__(
        self,
        run: Any,
        value: Any,
        node: Any,
        batched: bool = True,
        plain: bool = False,
        is_array: bool = False,
    ) -> None:
        self.run, self.value, self.node = run, value, node
        self.batched, self.plain, self.is_array = batched, plain, is_array

    @property
    def entry(self) -> Any:
        """Return one entry: its type, shape and dtype are those of all."""
        value = shown(self.value)
        if not self.batched:
            return value
        if self.is_array:
            return np.asarray(value[0])
        return value[0].item() if self.plain else value[0]


def shown(value: Any) -> Any:
    """Return an array for what a batch holds, also where that is an entry of a batch around."""
    return value.entry if type(value) is Tracer else value


def _refusing_method(name: str) -> Callable[..., Never]:
    def refuse(*_: Any, **__: Any) -> Never:
        if name == "__bool__":
            raise NotBatched("a branch depends on the batch")
        raise NotBatched(f"Python calls `{name}` of a value that depends on the batch")

    return refuse


for _special_name in (
    *BINARY, *(f"r{name}" for name in BINARY), *REFLECTED, "neg", "pos", "invert", "divmod",
    "rdivmod", "abs", "round", "bool", "len", "iter", "next", "float", "int", "complex", "index",
    "array", "getitem", "setitem", "contains", "getattr", "hash", "str", "repr", "format", "call",
    "reduce", "reduce_ex", "enter", "exit",
):  # fmt: skip
    setattr(Tracer, f"__{_special_name}__", _refusing_method(f"__{_special_name}__"))


def tracers_in(x: Any) -> bool:
    """Return whether a value is, or holds, what stands for an entry."""
    return type(x) is Tracer or any(True for _ in _tracers_within(x))


def is_batched(x: Any) -> bool:
    """Return whether a value is, or holds, what differs between entries."""
    if type(x) is Tracer:
        return x.batched
    return any(tracer.batched for tracer in _tracers_within(x))


def _tracers_within(x: Any) -> Iterator[Tracer]:
    """Yield what stands for an entry within a structure; what is held many times, once."""
    if not isinstance(x, list | tuple | dict):
        return
    waiting, seen = [x], {id(x)}
    while waiting:
        held = waiting.pop()
        for part in held.values() if isinstance(held, dict) else held:
            if type(part) is Tracer:
                yield part
            elif isinstance(part, list | tuple | dict) and id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


def entry_of(x: Any, known: dict[int, Any] | None = None) -> Any:
    """Return a value with one entry of the batch in the place of each tracer.

    What is held many times is `known` after the first: a structure may share its parts.
    """
    if type(x) is Tracer:
        return x.entry
    if isinstance(x, list | tuple) and tracers_in(x):
        known = {} if known is None else known
        if id(x) not in known:
            known[id(x)] = type(x)([entry_of(part, known) for part in x])
        return known[id(x)]
    return x


def is_number(x: Any) -> bool:
    """Return whether a value is a number or an array, or stands for one."""
    if type(x) is Tracer:
        return is_number(x.entry)
    return isinstance(x, Array | np.generic | int | float | complex)


def has_users_methods(x: Any, seen: set[int] | None = None) -> bool:
    """Return whether an operand is an object, whose methods C may call."""
    if type(x) is Tracer or isinstance(x, Array | np.generic | int | float | complex | str | bytes):
        return False
    if isinstance(x, list | tuple | dict):
        seen = set() if seen is None else seen
        if id(x) in seen:
            return False  # what it holds was asked before
        seen.add(id(x))
        return any(has_users_methods(y, seen) for y in (x.values() if isinstance(x, dict) else x))
    plain = (type(None), slice, range, type, np.dtype, types.EllipsisType, types.ModuleType)
    return not isinstance(x, (*plain, zip, enumerate, reversed))


CallOfWholes = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class Whole(NDArrayOperatorsMixin):
    """The array of a whole batch, and its number on the tape around.

    Attributes:
        value: the array, or an entry of a batch around.
        node: its number.
        call: runs a function of such arrays on the tape around.
    """

    def __init__(self, value: Any, node: Any, call: CallOfWholes) -> None:
        self.value, self.node, self.call = value, node, call

    shape = property(lambda self: np.shape(shown(self.value)))
    ndim = property(lambda self: np.ndim(shown(self.value)))
    size = property(lambda self: np.size(shown(self.value)))
    dtype = property(lambda self: shown(self.value).dtype)
    T = property(lambda self: self.call(np.transpose, (self,), {}))

    def __len__(self) -> int:
        return int(self.shape[0])

    def __bool__(self) -> bool:
        return bool(self.value)

    def __array__(self, *_: Any, **__: Any) -> Never:
        # else NumPy makes an array of objects of it, row by row
        raise NotBatched("a batching rule makes a NumPy array of the batch")

    def __getitem__(self, index: Any) -> Any:
        return self.call(operator.getitem, (self, index), {})

    def astype(self, dtype: Any) -> Any:
        """Return the array in another dtype."""
        return self.call(np.ndarray.astype, (self, dtype), {})

    def conj(self) -> Any:
        """Return the conjugate."""
        return self.call(np.ndarray.conj, (self,), {})

    def __array_ufunc__(self, ufunc: Any, method: str, *xs: Any, **kws: Any) -> Any:
        f = ufunc if method == "__call__" else getattr(ufunc, method)
        return self.call(f, xs, kws)

    def __array_function__(self, f: Any, types: Any, xs: Any, kws: Any) -> Any:
        return self.call(f, xs, kws)
