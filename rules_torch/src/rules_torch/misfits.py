"""What is said where PyTorch refuses a call, or returns what has no array or no gradient."""

import re
import types

import numpy as np
import torch

from rulescore.faults import an

_SHORT = {torch.float32: "float()", torch.float64: "double()", torch.float16: "half()"}


def misfit(call, arrays, error):
    """Return what to do about an error of PyTorch; `None` if it is of another kind.

    Arguments:
        call: the `Numpy` whose function has raised it.
        arrays: the tensors of its arguments.
        error: the error.
    """
    if not isinstance(error, RuntimeError):
        return None
    if "leaf Variable" in str(error):
        return has_written(call.name)
    f = call.f
    own = [*f.parameters(), *f.buffers()] if isinstance(f, torch.nn.Module) else []
    if "device" in str(error):
        return of_device(call.name, {str(t.device) for t in own} - {"cpu"}, error)
    if re.search(r"\btype|dtype|Double|Float", str(error)):
        kinds = {t.dtype for t in own if is_inexact(t.dtype)}
        return of_precision(call.name, kinds, {t.dtype for t in arrays}, error)
    return None


def has_written(name):
    """Return what to do about a function that writes into the memory of arrays."""
    return (
        f"{name} writes in place into an array that it is given: let it have copies, by "
        "`rules_torch.numpy(f, copy=True)`"
    )


def overwritten(error):
    """Return what to do where a tensor has changed before a backward pass; `None` if none has."""
    if "modified by an inplace operation" not in str(error):
        return None
    return (
        "a tensor that the function reads, such as a parameter of a module or one that it "
        "captured, has been written since the call, and its gradient needs what was in it: write "
        "after the gradient is taken, or let the function read a copy, as by `t.clone()`"
    )


def is_inexact(dtype):
    """Return whether a dtype is of floating-point or complex numbers."""
    return dtype.is_floating_point or dtype.is_complex


def of_device(name, devices, error):
    """Return what to do where arrays, which are on the CPU, meet tensors that are not."""
    if not devices:
        return f"{name} is given arrays, which are on the CPU, and PyTorch says: {error}"
    return (
        f"{name} is on {named(devices)}, and arrays are on the CPU: call `module.cpu()`, or give "
        "a function that moves them, such as `lambda t: module(t.cuda())`"
    )


def of_precision(name, own, given, error):
    """Return what to do where arrays have another dtype than a module, or than other tensors."""
    others = {*filter(is_inexact, given - own)} or given - own
    if len(own) != 1 or not others:
        return (
            f"{name} is given {named(given)}, and PyTorch says: {error}: convert the arrays by "
            "`x.astype(...)`, or its tensors by `t.to(...)`"
        )
    (due,), one = own, next(iter(others))
    ways = []
    if is_inexact(one):
        ways.append(f"call `module.{_SHORT.get(one, f'to({one})')}`")
    if is_of_numpy(due) and not one.is_complex:
        ways.append(f"give `x.astype(np.{named(own)})`")
    return f"{name} computes in {named(own)}, and is given {named(others)}: {', or '.join(ways)}"


def named(kinds):
    """Return the names of dtypes, as NumPy has them, or of devices."""
    return " and ".join(sorted(str(kind).removeprefix("torch.") for kind in kinds))


def is_of_numpy(dtype):
    """Return whether NumPy has a dtype."""
    return hasattr(np, named([dtype]))


def refuse_unreadable(name, t):
    """Raise `TypeError` for a tensor in a value that cannot be an array of NumPy."""
    if t.layout is not torch.strided:
        layout = str(t.layout).removeprefix("torch.")
        raise TypeError(f"{name} returns {an(layout)} tensor: return `t.to_dense()`")
    if not is_of_numpy(t.dtype):
        raise TypeError(
            f"{name} returns {named([t.dtype])}, which NumPy has not: return `t.float()`"
        )


_OF_PYTORCH = types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType


def is_cut_off(f, leaves):
    """Return whether PyTorch keeps no gradient of the numbers in the value of a user's function."""
    inexact = [t for t in leaves if isinstance(t, torch.Tensor) and is_inexact(t.dtype)]
    kept = any(t.requires_grad for t in inexact)
    return bool(inexact) and not kept and not isinstance(f, _OF_PYTORCH)


def cut_off(name):
    """Return what to do about such a function."""
    return (
        f"{name} returns tensors of which PyTorch keeps no gradient: they are computed under "
        "`torch.no_grad()`, detached, or depend on no argument; let it keep one, or take the value "
        "as a constant, by `stop_gradient`"
    )
