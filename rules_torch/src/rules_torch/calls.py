"""The rule for functions of PyTorch on arrays of NumPy: its own backward pass is the pullback."""

from itertools import chain

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.utils import _pytree as pytree

import rules_torch
from rules_torch.memory import taken, tensor_of, writes_nothing
from rules_torch.misfits import (
    cut_off,
    has_written,
    is_cut_off,
    misfit,
    overwritten,
    refuse_unreadable,
)
from rulescore import RuleSet, Tangent, project
from rulescore.faults import an
from rulescore.interop import foreign
from rulescore.interop.foreign import Foreign, is_number, leaves_along, rebuilt_like

rule = RuleSet("rules_torch")


class Numpy(Foreign):
    """Call a function of PyTorch on arrays of NumPy.

    Arguments:
        f: the module, or the function of tensors.
        copy: as for `rules_torch.numpy`.
    """

    def __init__(self, f, copy=None):
        super().__init__(f, "a module or a function of tensors")
        self.copy = copy

    @property
    def name(self):
        """The name of the function, or of the type of a module, in messages."""
        return type(self.f).__name__ if isinstance(self.f, torch.nn.Module) else super().name

    def run(self, *xs, **options):
        """Return the value on arrays, as arrays."""
        given, leaves, structure = called(self, xs, options, False)
        value = values(self, leaves, structure)
        del given  # held till here: a value that is an argument has another holder
        return value

    def record(self, /, *xs, **options):
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
        given, leaves, structure = called(self, xs, options, True)
        if is_module and before != versions(self.f.buffers()):
            raise RuntimeError(f"{self.name} writes its buffers: call `module.eval()`")
        value = values(self, [*leaves], structure, 1)
        operands = [Parameters(self.f) if is_module else None, *map(Argument, xs, given)]
        leaves_of = pytree.tree_leaves
        of_self, *why = foreign.reasons(self, "PyTorch", xs, leaves_of, is_module, _INSTEAD)
        why = [self.refused(x) or words for x, words in zip(xs, why, strict=True)]
        if is_cut_off(self.f, leaves):
            of_self, *why = [cut_off(self.name) if w is None else w for w in (of_self, *why)]
        return value, Backward(operands, leaves, value), (of_self, *why)

    def refused(self, x):
        """Return why an argument with a tensor in it has no cotangent; `None` for any other."""
        if not any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(x)):
            return None
        return (
            f"{self.name} is given a tensor, and a gradient passes through arrays alone: give "
            "`np.asarray` of it, or call the function itself on tensors"
        )

    def __repr__(self):
        return f"rules_torch.numpy({self.f!r})"


_INSTEAD = (
    "give the arrays that it holds as arguments; a module has a gradient where it is what is "
    "called, as by `rules_torch.numpy(module)(x)`"
)


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
        outputs = [t for ts in found for t in ts or [None]]
        value = self.cotangents(found, 1)
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
        try:
            found = torch.autograd.grad(
                outputs, needed, dys, retain_graph=True, create_graph=create_graph,
                allow_unused=True,
            )  # fmt: skip
        except RuntimeError as error:
            if text := overwritten(error):
                raise RuntimeError(text) from error
            raise
        each = iter(found)
        return [
            operand and [next(each) if is_moving(t) else None for t in operand.tensors]
            for operand in chosen
        ]

    def cotangents(self, found, more=0):
        """Return the cotangents of the operands, as arrays; the lists are used up."""
        return tuple(
            [
                None
                if ts is None
                else operand.cotangent([taken(ts, i, more) for i in range(len(ts))])
                for operand, ts in zip(self.operands, found, strict=True)
            ]
        )


class Operand:
    """What a value depends on: its tensors in PyTorch's graph, `None` for what is not a tensor."""

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


def called(call, xs, options, recording):
    """Return the tensors of each argument in PyTorch's graph, and the leaves of the value.

    They are handed over as copies where the function may write into its arguments.
    """
    given = [[tensor_of(x) if is_number(x) else None for x in pytree.tree_leaves(x)] for x in xs]
    copy = call.copy
    if copy is None:
        is_plain = not options and all(t is not None for t in chain(*given))
        copy = not (is_plain and writes_nothing(call.f))
    if recording:
        for t in chain(*given):
            if t is not None and (t.is_floating_point() or t.is_complex()):
                t.requires_grad_()
    handed = [as_handed(x, ts, copy) for x, ts in zip(xs, given, strict=True)]
    handed_options = pytree.tree_map(option_of, options)
    try:
        value = call.apply(*handed, **handed_options)
    except Exception as error:
        arrays = [t for t in chain(*given) if t is not None]
        if text := misfit(call, arrays, error):
            raise RuntimeError(text) from error
        raise
    found = pytree.tree_flatten(value)
    if not copy and any(t._version for t in chain(*given) if t is not None):
        raise RuntimeError(has_written(call.name))
    return given, *found


def as_handed(x, tensors, copy):
    """Return an argument with tensors, or copies of them, in the place of arrays and numbers."""
    leaves, structure = pytree.tree_flatten(x)
    handed = [
        leaf if t is None else t.clone() if copy else t
        for leaf, t in zip(leaves, tensors, strict=True)
    ]
    return pytree.tree_unflatten(handed, structure)


def option_of(x):
    """Return a leaf of the options as it is handed over."""
    return tensor_of(x).clone() if is_number(x) else x


def values(call, leaves, structure, more=0):
    """Return the leaves of a value as arrays, in its structure; their list is used up."""
    found = [array_of(call, leaves, i, more) for i in range(len(leaves))]
    return pytree.tree_unflatten(found, structure)


def array_of(call, leaves, i, more):
    """Return a leaf of a value as an array or number of NumPy."""
    if leaves[i] is None or isinstance(leaves[i], bool | int | str):
        return leaves[i]
    if not isinstance(leaves[i], torch.Tensor):
        raise TypeError(
            f"{call.name} returns {an(type(leaves[i]).__name__)}, and a gradient passes through "
            "tensors alone: return tensors, or trees of them"
        )
    refuse_unreadable(call.name, leaves[i])
    array = taken(leaves, i, more)
    return array if array.ndim else array[()]


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
                f"{type(part).__name__}{name and f' `{name}`'} writes its running statistics in "
                "train mode, which a gradient would pass by: call `module.eval()` before"
            )


def record(f, /, *xs, **options):
    """Return what the method does; this function has a rule."""
    return f.recorded(*xs, **options)


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
    "it makes a tensor, which carries no gradient here: write what computes with it as a function"
    " `f` of tensors, or as a module, and call `rules_torch.numpy(f)` on the array",
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
