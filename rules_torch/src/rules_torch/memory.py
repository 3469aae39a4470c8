"""Arrays as tensors and tensors as arrays, without a copy where nobody could notice it."""

import types
from sys import getrefcount

import numpy as np
import torch
from torch.nn.modules.module import _has_any_global_hook

from rulescore.interop.foreign import Memory

_LARGE = 10_000  # entries; a copy of fewer takes less time than to ask who holds them
_HOOKS = (
    "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
)  # fmt: skip


def writes_nothing(f):
    """Return whether a function is known not to write into tensors that it is given.

    These are functions of PyTorch, and modules that are made of PyTorch's layers alone: no hook,
    no layer that works in place, and no method of the user's is run.
    """
    if isinstance(f, torch.nn.Module):
        return not _has_any_global_hook() and all(map(_is_plain_layer, f.modules()))
    name = getattr(f, "__name__", "_")
    if name.endswith("_") or "norm" in name:  # some of these keep running statistics
        return False
    if isinstance(f, types.BuiltinFunctionType):
        return (f.__module__ or "").partition(".")[0] == "torch"
    return isinstance(f, types.FunctionType) and f.__globals__ is vars(torch.nn.functional)


def _is_plain_layer(part):
    own = vars(part)
    return (
        type(part).__module__.startswith("torch.nn.modules.")
        and not own.get("inplace")
        and "forward" not in own
        and not any(own.get(hooks) for hooks in _HOOKS)
    )


def tensor_of(x):
    """Return an array or number as a tensor, which shares the memory of an array if it can."""
    if not isinstance(x, np.ndarray):
        return torch.tensor(x) if isinstance(x, np.generic) else number_of(x)
    if type(x) is not np.ndarray:
        name = type(x).__name__
        raise TypeError(f"PyTorch is given plain arrays, and no {name}: pass `np.asarray` of it")
    if not x.flags.writeable or any(step < 0 for step in x.strides):
        x = x.copy()  # PyTorch warns of read-only memory, and has no negative strides
    return torch.from_numpy(x)


def number_of(x):
    """Return a number of Python as a tensor, which as such leaves others their precision."""
    return torch.tensor(x, dtype=torch.complex128 if isinstance(x, complex) else torch.float64)


def taken(held, i, more=0):
    """Take a tensor out of a list, as an array that nobody else holds: its memory, or a copy.

    The tensor may be an argument, a parameter, a view of one, or be kept by PyTorch's graph. Of
    those who hold it, `more` do not read its entries.
    """
    t = held[i]
    held[i] = None
    if t is None:
        return None
    is_large = t.numel() >= _LARGE and t.layout is torch.strided
    is_alone = is_large and (not t.is_cpu or _holders(t, more) == _ALONE)
    array = t.numpy(force=True)  # of another device it is a copy
    return np.asarray(Memory(array)) if is_alone and array.flags.carray else array.copy()


def _holders(t, more):
    """Return how many hold a tensor or its memory: Python, PyTorch's graph, and other tensors."""
    memory = t.untyped_storage()
    counted = torch._C._storage_Use_Count(memory._cdata)
    return getrefcount(t) - more, getrefcount(memory), t._use_count(), counted


def _holders_of(held):
    t = held[0]
    held[0] = None
    return _holders(t, 0)


_ALONE = _holders_of([torch.ones(1)])
