"""The rule for functions of PyTorch on arrays of NumPy: its own backward pass is the pullback."""

import functools

import numpy as np
import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.utils import _pytree as pytree

import rules_torch
from rulescore import RuleSet, Tangent, project

rule = RuleSet("rules_torch", may_raise=True)


class Numpy:
    """Call a function of PyTorch on arrays of NumPy.

    Arguments:
        f: the module, or the function of tensors.
    """

    def __init__(self, f):
        if not callable(f):
            raise TypeError(f"expected a module or a function of tensors, found {type(f).__name__}")
        self.f = f

    def __call__(self, *xs, **options):
        """Return the value on arrays, as arrays."""
        return values(self, *called(self.f, xs, options, False))

    def __repr__(self):
        return f"rules_torch.numpy({self.f!r})"


# a module goes by value: the engine does not look into it
@rule.method(project)
def _(dx: object, x: torch.nn.Module):
    return dx


@rule.method(project)
def _(dx: object, x: Numpy):
    return dx


def is_number(x):
    """Return whether a leaf of the arguments is handed over as a tensor."""
    return isinstance(x, np.ndarray | np.generic | float | complex)


def tensor_of(x):
    """Return an array or number as a tensor, which shares the memory of a writable array."""
    if not isinstance(x, np.ndarray):
        return torch.tensor(x) if isinstance(x, np.generic) else number_of(x)
    if type(x) is not np.ndarray:
        raise TypeError(f"PyTorch is given plain arrays, and no {type(x).__name__}")
    if not x.flags.writeable or any(step < 0 for step in x.strides):
        x = x.copy()  # a tensor can always be written into, and has no negative strides
    return torch.from_numpy(x)


def number_of(x):
    """Return a number of Python as a tensor, which as such leaves others their precision."""
    return torch.tensor(x, dtype=torch.complex128 if isinstance(x, complex) else torch.float64)


def called(f, xs, options, recording):
    """Return the tensors that a function was given, and the value on them.

    Raises `RuntimeError` where the function writes into them.
    """
    leaves, structure = pytree.tree_flatten((xs, options))
    given = [tensor_of(x) if is_number(x) else None for x in leaves]
    for i, t in enumerate(given):
        if recording and t is not None and (t.is_floating_point() or t.is_complex()):
            given[i] = t.requires_grad_()
    before = [t._version for t in given if t is not None]
    handed = [x if t is None else t for x, t in zip(leaves, given, strict=True)]
    xs, options = pytree.tree_unflatten(handed, structure)
    y = f(*xs, **options)
    if before != [t._version for t in given if t is not None]:
        raise RuntimeError(
            f"{called_name(f)} writes into its arguments, whose memory is that of arrays of NumPy: "
            "let it clone them first"
        )
    return given, y


def called_name(f):
    """Return how a function is called in a message."""
    return type(f).__name__ if isinstance(f, torch.nn.Module) else getattr(f, "__name__", repr(f))


def values(call, given, y):
    """Return the tensors of a value as arrays, which nobody else holds."""
    leaves, structure = pytree.tree_flatten(y)
    return pytree.tree_unflatten([array_of(call.f, t) for t in leaves], structure)


def array_of(f, t):
    """Return a leaf of a value as an array or number of NumPy.

    It is a copy: the tensor may be an argument, a parameter, or a view of one.
    """
    if t is None or isinstance(t, bool | int | str):
        return t
    if not isinstance(t, torch.Tensor):
        raise TypeError(
            f"{called_name(f)} returns a {type(t).__name__}, and a gradient passes through tensors "
            "alone: return tensors, or trees of them"
        )
    return t.numpy(force=True).copy()[()]


def refuse_state(f):
    """Raise `RuntimeError` for a module that writes its buffers when it is called."""
    if not isinstance(f, torch.nn.Module):
        return
    for name, part in f.named_modules():
        if isinstance(part, _NormBase) and part.training and part.track_running_stats:
            raise RuntimeError(
                f"{type(part).__name__} `{name}` writes its running statistics in train mode, "
                "which a gradient would pass by: call `module.eval()` before"
            )


@rule(rules_torch.numpy)
def _(f: torch.nn.Module):
    return Numpy(f), lambda dy: (None if dy is None else dy.f,)


@rule(rules_torch.numpy)
def _(f: object):
    raise NotImplementedError(
        "a gradient passes through what a function of tensors captured: make a torch.nn.Module of "
        "it, or hand over what it captured as arguments"
    )


@rule.of_instances
def _(call: Numpy, *xs: object, **options):
    f = call.f
    if not torch.is_grad_enabled():
        raise NotImplementedError(
            f"{called_name(f)} is called under torch.no_grad(), where PyTorch keeps no gradient: "
            "call it outside"
        )
    refuse_state(f)
    buffers = [*f.buffers()] if isinstance(f, torch.nn.Module) else []
    before = [b._version for b in buffers]
    given, y = called(f, xs, options, True)
    if before != [b._version for b in buffers]:
        raise RuntimeError(f"{called_name(f)} writes its buffers: call `module.eval()`")
    value = values(call, given, y)
    tensors = pytree.tree_leaves(y)

    def pulled(dy, by):
        """Return the cotangents of tensors."""
        needed = [t for t in by if t is not None and t.requires_grad]
        pairs = [
            (t, torch.as_tensor(np.array(d), dtype=t.dtype, device=t.device).reshape(t.shape))
            for t, d in zip(tensors, cotangent_leaves(value, dy), strict=True)
            if d is not None and isinstance(t, torch.Tensor) and t.requires_grad
        ]
        if not pairs or not needed:
            return [None] * len(by)
        outputs, dys = zip(*pairs, strict=True)
        found = iter(
            torch.autograd.grad(outputs, needed, dys, retain_graph=True, allow_unused=True)
        )
        return [next(found) if t is not None and t.requires_grad else None for t in by]

    def dself(dy):
        if not isinstance(f, torch.nn.Module):
            return None
        names = dict(f.named_parameters())
        found = pulled(dy, [*names.values()])
        return Tangent(
            Numpy,
            f=Tangent(type(f), **dict(zip(names, map(as_array, found), strict=True))),
        )

    def dx(x, first, dy):
        leaves, structure = pytree.tree_flatten(x)
        by = given[first : first + len(leaves)]
        for leaf, t in zip(leaves, by, strict=True):
            is_whole = isinstance(leaf, int) and not isinstance(leaf, bool)
            if is_whole or (t is not None and not t.requires_grad and leaf.dtype.kind in "iu"):
                raise NotImplementedError(
                    f"{called_name(f)} is given integers, by which PyTorch has no gradient: "
                    "convert them to floats, or leave them out by `argnums`"
                )
        found = pulled(dy, by)
        dxs = [project(as_array(d), leaf) for d, leaf in zip(found, leaves, strict=True)]
        return pytree.tree_unflatten(dxs, structure)

    parts, first = [], 0
    for x in xs:
        parts.append(functools.partial(dx, x, first))
        first += len(pytree.tree_leaves(x))
    return value, (dself, *parts)


def as_array(t):
    """Return a cotangent as an array that nobody else holds."""
    return None if t is None else t.numpy(force=True).copy()


def cotangent_leaves(y, dy):
    """Return the cotangents of the leaves of a value, `None` where there is none."""
    if isinstance(y, dict):
        return [
            d for name in y for d in cotangent_leaves(y[name], None if dy is None else dy.get(name))
        ]
    if isinstance(y, list | tuple):
        given = [None] * len(y) if dy is None else dy
        return [
            d for part, dpart in zip(y, given, strict=True) for d in cotangent_leaves(part, dpart)
        ]
    return [dy]


rule.without_rule(
    "a tensor carries no gradient of arrays: call `rules_torch.numpy(module)` on arrays",
    *(
        f"torch{owner}.{name}"
        for owner in (
            "",
            "._VariableFunctionsClass",
            "._C._VariableFunctionsClass",
            "._C",
            ".Tensor",
        )
        for name in (
            "from_numpy",
            "as_tensor",
            "tensor",
            "asarray",
            "from_dlpack",
            "numpy",
            "detach",
        )
    ),
)
