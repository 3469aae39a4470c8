"""The rule for functions of PyTorch on arrays of NumPy: its own backward pass is the pullback."""

from itertools import chain

import numpy as np
import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.utils import _pytree as pytree

import rules_torch
from rulescore import RuleSet, Tangent, project
from rulescore.interop import foreign
from rulescore.interop.foreign import Foreign, is_number, leaves_along, rebuilt_like

rule = RuleSet("rules_torch")


class Numpy(Foreign):
    """Call a function of PyTorch on arrays of NumPy.

    Arguments:
        f: the module, or the function of tensors.
    """

    def __init__(self, f):
        if not callable(f):
            raise TypeError(f"expected a module or a function of tensors, found {type(f).__name__}")
        super().__init__(f)

    @property
    def name(self):
        """The name of the function, or of the type of a module, in messages."""
        return type(self.f).__name__ if isinstance(self.f, torch.nn.Module) else super().name

    def run(self, *xs, **options):
        """Return the value on arrays, as arrays."""
        _, y = called(self.f, xs, options, False)
        return values(self, y)

    def record(self, *xs, **options):
        """Return the value, its pullback, and why arguments have no cotangent."""
        if not torch.is_grad_enabled():
            raise NotImplementedError(
                f"{self.name} is called under torch.no_grad(), where PyTorch keeps no gradient: "
                "call it outside"
            )
        refuse_state(self.f)
        is_module = isinstance(self.f, torch.nn.Module)
        buffers = [*self.f.buffers()] if is_module else []  # held, so that no other has their place
        before = versions(buffers)
        given, y = called(self.f, xs, options, True)
        if is_module and before != versions(self.f.buffers()):
            raise RuntimeError(f"{self.name} writes its buffers: call `module.eval()`")
        value = values(self, y)
        operands = [Parameters(self.f) if is_module else None, *map(Argument, xs, given)]
        why = foreign.reasons(self, "PyTorch", xs, pytree.tree_leaves, is_module)
        return value, Backward(operands, pytree.tree_leaves(y), value), why

    def __repr__(self):
        return f"rules_torch.numpy({self.f!r})"


class Backward(foreign.Backward, Numpy):
    """The pullback of a call, by PyTorch's graph of it.

    Arguments:
        operands: the function and its arguments, `None` for one that has no cotangent.
        outputs: the tensors of the leaves of the value.
        value: the value.
    """

    def __init__(self, operands, outputs, value):
        super().__init__(Backward.run)  # a bound method would keep the graph until a collection
        self.operands, self.outputs, self.value = operands, outputs, value

    @property
    def name(self):
        """The name in messages."""
        return "a pullback of PyTorch"

    def run(self, dy, *_, at, held):
        """Return the cotangents; those of parameters only if they are asked for."""
        if at not in held:
            found = self.pulled(self.tensors_of(leaves_along(self.value, dy)), at, False)
            for i, dx in enumerate(self.cotangents(found)):
                if i == at or not isinstance(self.operands[i], Parameters):
                    held[i] = dx
        return tuple([held.get(i) for i in range(len(self.operands))])

    def record(self, dy, *_, at, held):
        """Return them, their pullback, and why some have none."""
        dys = leaves_along(self.value, dy)
        tensors = self.tensors_of(dys)
        found = self.pulled([None if t is None else t.requires_grad_() for t in tensors], at, True)
        value = self.cotangents(found)
        outputs = [t for ts in found for t in ts or [None]]
        operands = [None, Cotangent(self.value, dys, tensors), *self.operands]
        why = tuple(["" if operand is None else None for operand in operands])
        return value, Backward(operands, outputs, value), why

    def tensors_of(self, dys):
        """Return cotangents of the outputs as tensors, `None` where they have none."""
        return [
            None
            if d is None or not isinstance(t, torch.Tensor) or not t.requires_grad
            else torch.tensor(d, dtype=t.dtype, device=t.device).reshape(t.shape)
            for t, d in zip(self.outputs, dys, strict=True)
        ]

    def pulled(self, dys, at, create_graph):
        """Return for each operand the cotangents of its tensors, or `None` if they are left out."""
        pairs = [(t, d) for t, d in zip(self.outputs, dys, strict=True) if d is not None]
        chosen = [
            None if isinstance(operand, Parameters) and i != at else operand
            for i, operand in enumerate(self.operands)
        ]
        needed = [t for operand in chosen if operand for t in operand.moving()]
        if not pairs or not needed:
            return [None] * len(chosen)
        outputs, dys = zip(*pairs, strict=True)
        found = iter(
            torch.autograd.grad(
                outputs, needed, dys, retain_graph=True, create_graph=create_graph,
                allow_unused=True,
            )
        )  # fmt: skip
        return [
            operand and [next(found) if is_moving(t) else None for t in operand.tensors]
            for operand in chosen
        ]

    def cotangents(self, found):
        """Return the cotangents of the operands, as arrays."""
        return tuple(
            [
                None if ts is None else operand.cotangent([*map(as_array, ts)])
                for operand, ts in zip(self.operands, found, strict=True)
            ]
        )


class Operand:
    """What a value depends on: its tensors in PyTorch's graph, `None` for what is no tensor."""

    def __init__(self, tensors):
        self.tensors = tensors

    def moving(self):
        """Return the tensors that have a gradient."""
        return [*filter(is_moving, self.tensors)]


class Argument(Operand):
    """An argument: a number or an array, or a tree of them."""

    def __init__(self, x, tensors):
        super().__init__(tensors)
        self.leaves, self.structure = pytree.tree_flatten(x)

    def cotangent(self, ds):
        """Return the cotangent, from those of the tensors."""
        return pytree.tree_unflatten(map(project, ds, self.leaves), self.structure)


class Parameters(Operand):
    """The parameters of a module."""

    def __init__(self, module):
        self.kind, self.names = type(module), dict(module.named_parameters())
        super().__init__([*self.names.values()])

    def cotangent(self, ds):
        """Return the cotangent of the `Numpy` that holds the module."""
        return Tangent(Numpy, f=Tangent(self.kind, **dict(zip(self.names, ds, strict=True))))


class Cotangent(Operand):
    """The cotangent of a value, which a pullback is given."""

    def __init__(self, value, dys, tensors):
        super().__init__(tensors)
        self.value, self.dys = value, dys

    def cotangent(self, ds):
        """Return its cotangent, from those of the tensors."""
        return rebuilt_like(self.value, map(project, ds, self.dys))


def is_moving(t):
    """Return whether a tensor has a gradient."""
    return t is not None and t.requires_grad


def called(f, xs, options, recording):
    """Return the tensors of each argument in PyTorch's graph, and the value on copies of them.

    The graph has copies, because an array may be overwritten before its cotangent is asked for, and
    the function may write into its arguments.
    """
    given = [[tensor_of(x) if is_number(x) else None for x in pytree.tree_leaves(x)] for x in xs]
    if recording:
        for t in chain(*given):
            if t is not None and (t.is_floating_point() or t.is_complex()):
                t.requires_grad_()
    handed = [as_handed(x, ts) for x, ts in zip(xs, given, strict=True)]
    return given, f(*handed, **pytree.tree_map(option_of, options))


def as_handed(x, tensors):
    """Return an argument with copies of tensors in the place of its arrays and numbers."""
    leaves, structure = pytree.tree_flatten(x)
    handed = [leaf if t is None else t.clone() for leaf, t in zip(leaves, tensors, strict=True)]
    return pytree.tree_unflatten(handed, structure)


def option_of(x):
    """Return a leaf of the options as it is handed over."""
    return tensor_of(x).clone() if is_number(x) else x


def tensor_of(x):
    """Return an array or number as a tensor, which shares the memory of an array if it can."""
    if not isinstance(x, np.ndarray):
        return torch.tensor(x) if isinstance(x, np.generic) else number_of(x)
    if type(x) is not np.ndarray:
        raise TypeError(f"PyTorch is given plain arrays, and no {type(x).__name__}")
    if not x.flags.writeable or any(step < 0 for step in x.strides):
        x = x.copy()  # PyTorch warns of read-only memory, and has no negative strides
    return torch.from_numpy(x)


def number_of(x):
    """Return a number of Python as a tensor, which as such leaves others their precision."""
    return torch.tensor(x, dtype=torch.complex128 if isinstance(x, complex) else torch.float64)


def values(call, y):
    """Return the tensors of a value as arrays, which nobody else holds."""
    return pytree.tree_map(lambda t: array_of(call, t), y)


def array_of(call, t):
    """Return a leaf of a value as an array or number of NumPy.

    It is a copy: the tensor may be an argument, a parameter, or a view of one.
    """
    if t is None or isinstance(t, bool | int | str):
        return t
    if not isinstance(t, torch.Tensor):
        raise TypeError(
            f"{call.name} returns a {type(t).__name__}, and a gradient passes through tensors "
            "alone: return tensors, or trees of them"
        )
    return as_array(t)[()]


def as_array(t):
    """Return a tensor as an array that nobody else holds."""
    return None if t is None else t.numpy(force=True).copy()


def versions(buffers):
    """Return what changes where a buffer is written, or another tensor takes its place."""
    return [(id(b), b._version) for b in buffers]


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


def record(f, *xs, **options):
    """Return what the method does; this function has a rule."""
    return f.record(*xs, **options)


@rule(Numpy)  # for gradients of gradients, which go into the rule of `numpy`
@rule(rules_torch.numpy)
def _(f: torch.nn.Module):
    return Numpy(f), lambda dy: (None if dy is None else dy.f,)


@rule(rules_torch.numpy)
def _(f: object):
    raise NotImplementedError(
        "a gradient passes through what a function of tensors captured: make a torch.nn.Module of "
        "it, or hand over what it captured as arguments"
    )


# a module goes by value: the engine does not look into it
@rule.method(project)
def _(dx: object, x: torch.nn.Module):
    return dx


foreign.declare(rule, Numpy, record)
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
