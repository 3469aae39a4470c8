"""Functions as functions of PyTorch: `torch.autograd.Function` over a call of NumPy's arrays.

A tensor is handed over as an array that shares its memory and cannot be written into. What the
function returns becomes a tensor without a copy where nobody else holds it.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from rulescore._errors import Fault
from rulescore._naming import name_of
from rulescore.interop._calls import Call, owned
from rulescore.interop._derivatives import Derivative, Pushforward
from rulescore.interop._differentiator import Differentiator, Pull
from rulescore.interop._functions import ExportedFunction
from rulescore.interop._trees import LEAF, along, flatten, rebuild, same

_is_transformed: Any = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
_trace: Any = getattr(torch._C, "_get_tracing_state", lambda: None)
_count_of_modes: Any = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)


class TorchFunction(ExportedFunction):
    """A function of tensors, which PyTorch differentiates.

    Arguments:
        f, differentiator: as for `ExportedFunction`.
        copy: whether it is given copies, which it may write into.
    """

    def __init__(self, f: Any, differentiator: Differentiator, copy: bool) -> None:
        super().__init__(f, differentiator)
        self.copy = copy

    def __call__(self, *xs: Any, **options: Any) -> Any:
        """Call the function on tensors, or on trees of them."""
        if torch.compiler.is_compiling():
            return torch.compiler.disable(called)(self, xs, options)
        if not options:
            for x in xs:
                if not isinstance(x, Tensor):
                    break
            else:
                call = self.calls.get(len(xs)) or self.call_of_leaves(len(xs))
                return applied(call, self.copy, xs)
        leaves: list[Any] = []
        f, xs, options = self.without_keywords(xs, options, _is_tensor, _as_constant)
        structure = flatten(xs, _is_tensor, leaves)
        return applied(Call(f, structure, options, self.differentiator), self.copy, leaves)

    def __repr__(self) -> str:
        return f"to_torch({name_of(self.f)})"

    def __reduce__(self) -> Any:
        return TorchFunction, (self.f, self.differentiator, self.copy)


def called(f: TorchFunction, xs: Any, options: Any) -> Any:
    """Call a function of tensors: what `torch.compile` does not look into."""
    if torch.compiler.is_compiling():  # all the same, where a program is exported
        raise traced(name_of(f.f))
    return f(*xs, **options)


def traced(name: str) -> Exception:
    """Return the error for a call whose value would be a constant of a graph."""
    return Fault.HOST_CALL.of(
        TypeError,
        f"{name} is not run by PyTorch, so a graph of `torch.jit.trace`, `torch.export` or "
        "`make_fx` would hold its value as a constant: call it outside of what is traced, or use "
        "`torch.compile`, which leaves the call as it is",
    )


def refuse_tracing(name: str) -> None:
    """Raise `TypeError` where tensors are traced."""
    if _trace() is None:
        from torch.fx.experimental.proxy_tensor import get_proxy_mode

        if get_proxy_mode() is None:  # of other modes, such as one that counts operations
            return
    raise traced(name)


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _as_constant(name: str, x: Tensor) -> Any:
    if x.requires_grad:
        raise Fault.HOST_CALL.of(
            TypeError,
            f"the option `{name}` is a tensor with a gradient, and options have none: detach it",
        )
    return number_or_array(x)


def number_or_array(x: Tensor) -> Any:
    """Return a tensor as a number or an array that cannot be written into."""
    array = array_of(x, False)
    return array if array.ndim else array[()]


def _is_inexact(x: Tensor) -> bool:
    return bool(x.dtype.is_floating_point or x.dtype.is_complex)


class Result:
    """What the forward pass leaves beside tensors: the structure of the value, and the pullback."""

    __slots__ = ("pull", "structure")

    def __init__(self, structure: Any, pull: Pull | None) -> None:
        self.structure, self.pull = structure, pull


class Recorded(torch.autograd.Function):
    """A call as a node of PyTorch's graph, where nothing but `backward` differentiates it."""

    @staticmethod
    def forward(ctx: Any, task: "Task", *tensors: Tensor) -> Any:
        """Return the tensors of the value's leaves: a tuple, but for one alone."""
        arrays = [array_of(x, task.copy) for x in tensors]
        structure, leaves, pull = task.run(arrays)
        ctx.save_for_backward(*tensors)
        ctx.task = task
        task.structure, task.pull = structure, pull
        is_usual = structure is LEAF and len(tensors) == 1 and tensors[0].is_cpu
        if is_usual and type(leaves[0]) is np.ndarray:
            return torch.from_numpy(owned(leaves, 0))
        ctx.set_materialize_grads(False)
        found = tensors_of(leaves, tensors)
        return found[0] if structure is LEAF else tuple(found)

    @staticmethod
    def backward(ctx: Any, *dys: Any) -> Any:
        """Return the cotangents of the tensors."""
        tensors = ctx.saved_tensors  # raises where one was changed meanwhile
        task = ctx.task
        if torch.is_grad_enabled() or _is_transformed():
            return None, *task.pulled_back(task, tensors, dys)
        return None, *gradients(task.pull, dys, tensors, task.needed)


class Exported(torch.autograd.Function):
    """A call as a node of PyTorch's graph, which is transformed, or has tangents."""

    @staticmethod
    def forward(task: "Task", *tensors: Tensor) -> Any:
        """Return the result and the tensors of the value's leaves."""
        arrays = [array_of(x, task.copy) for x in tensors]
        if task.needed is None:
            structure, leaves = task.call.value(arrays)
            return Result(structure, None), *tensors_of(leaves, tensors)
        structure, leaves, pull = task.run(arrays)
        return Result(structure, pull), *tensors_of(leaves, tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep what the backward pass needs."""
        ctx.task, ctx.result = inputs[0], output[0]
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, _: Any, *dys: Any) -> Any:
        """Return the cotangents of the tensors."""
        tensors = ctx.saved_tensors  # raises where one was changed meanwhile
        task, result = ctx.task, ctx.result
        if not (torch.is_grad_enabled() or _is_transformed()):
            return None, *gradients(result.pull, dys, tensors, ctx.needs_input_grad[1:])
        return None, *task.pulled_back(result, tensors, dys)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        """Return the tangents of the value's leaves."""
        return None, *ctx.task.pushed_forward(ctx.saved_tensors, tangents)

    @staticmethod
    def vmap(info: Any, axes: Any, task: "Task", *tensors: Tensor) -> Any:
        """Call the function for each entry of a batch."""
        found: list[Any] = []
        first: Result | None = None
        for i in range(info.batch_size):
            each = [
                x if axis is None else x.select(axis, i)
                for x, axis in zip(tensors, axes[1:], strict=True)
            ]
            result, *leaves = Exported.apply(Task(task.call, task.copy, needed_of(each)), *each)
            if first is None:
                first = Result(result.structure, None)
            ordered = along(result.structure, first.structure, leaves)
            if ordered is None or not same(first.structure, result.structure):
                raise Fault.HOST_RUN.of(
                    ValueError, f"{task.call.name} returns other structures for entries of a batch"
                )
            found.append(ordered)
        if first is None:
            raise Fault.HOST_RUN.of(
                ValueError, f"a batch without entries does not tell what {task.call.name} returns"
            )
        stacked = [torch.stack(leaves) for leaves in zip(*found, strict=True)]
        return (first, *stacked), (None, *[0 for _ in stacked])


class Task:
    """What one call does in the forward pass.

    Attributes:
        call: the call.
        copy: whether the function is given copies.
        needed: for each leaf whether its cotangent may be asked for; `None` where none is.
        structure, pull: the structure of the value and the pullback, which `Recorded` leaves here.
    """

    __slots__ = ("call", "copy", "needed", "pull", "structure")

    def __init__(self, call: Call, copy: bool, needed: Any) -> None:
        self.call, self.copy, self.needed = call, copy, needed
        self.structure: Any = None
        self.pull: Pull | None = None

    def run(self, arrays: list[Any]) -> tuple[Any, list[Any], Pull]:
        """Return the structure of the value, its leaves and the pullback.

        The function is run as outside of `forward`: a captured tensor with a gradient cannot become
        an array. The pullback of a derivative runs it once more.
        """
        with torch.enable_grad():
            structure, leaves, pull = self.call.pull(arrays, self.needed)
        is_again = isinstance(self.call, Derivative)
        return structure, leaves, torch.enable_grad()(pull) if is_again else pull

    def pulled_back(
        self, result: "Task | Result", tensors: Sequence[Tensor], dys: Sequence[Any]
    ) -> list[Any]:
        """Return the cotangents as tensors that may be differentiated again."""
        present = [dy is not None for dy in dys]
        if True not in present:
            return [None] * len(tensors)
        needed = self.needed or [_is_inexact(x) for x in tensors]
        call = Derivative(self.call, result.structure, present, needed, result.pull)
        return self.derived(call, [*tensors, *[dy for dy in dys if dy is not None]])

    def pushed_forward(self, tensors: Sequence[Tensor], tangents: Sequence[Any]) -> list[Any]:
        """Return the tangents of the leaves of the value, likewise."""
        call = Pushforward(self.call, [dx is not None for dx in tangents])
        return self.derived(call, [*tensors, *[dx for dx in tangents if dx is not None]])

    def derived(self, call: Call, operands: list[Any]) -> list[Any]:
        """Return what a derivative gives for each leaf, `None` where it gives nothing."""
        return list(applied(call, self.copy, operands))


def needed_of(tensors: Sequence[Tensor]) -> list[bool] | None:
    """Return which tensors may be asked for their cotangents; `None` where none is."""
    if _is_transformed():  # by several at once: each has leaves of its own
        return [_is_inexact(x) for x in tensors]
    needed = [x.requires_grad for x in tensors]
    return needed if True in needed and torch.is_grad_enabled() else None


def applied(call: Call, copy: bool, tensors: Sequence[Tensor]) -> Any:
    """Return the value of a call on tensors."""
    if _trace() is not None or _count_of_modes():
        refuse_tracing(call.name)
    task = Task(call, copy, needed_of(tensors))
    found: Any
    if _is_transformed() or getattr(forward_ad, "_current_level", 0) >= 0:
        result, *found = Exported.apply(task, *tensors)
        structure = result.structure
    elif task.needed is not None:
        found = Recorded.apply(task, *tensors)
        structure = task.structure
        if structure is LEAF:
            return found
    else:
        structure, leaves = call.value([array_of(x, copy) for x in tensors])
        found = tensors_of(leaves, tensors)
    return found[0] if structure is LEAF else rebuild(structure, iter(found))


def array_of(x: Tensor, copy: bool) -> Any:
    """Return a tensor as an array, which cannot be written into unless it is a copy."""
    try:
        array = x.numpy(force=True)
    except NotImplementedError as error:
        if not x.is_meta:
            raise
        raise Fault.HOST_CALL.of(
            TypeError, "a tensor of the device `meta` has no numbers: call the function on another"
        ) from error
    except TypeError as error:
        plain = x.layout is torch.strided
        what, how = (x.dtype, ".float()") if plain else (x.layout, ".to_dense()")
        raise Fault.HOST_CALL.of(
            TypeError, f"a tensor of {what} cannot be an array of NumPy: convert it, as by `{how}`"
        ) from error
    if copy:
        return array.copy()
    array.setflags(write=False)
    return array


def tensors_of(leaves: list[Any], tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the leaves of a value as tensors, on the device of the arguments."""
    found: list[Tensor] = []
    for i in range(len(leaves)):
        if type(leaves[i]) is np.ndarray:
            found.append(torch.from_numpy(owned(leaves, i)))
        else:
            found.append(of_number(leaves[i], tensors))
    for x in tensors:
        if not x.is_cpu:
            return [tensor.to(x.device) for tensor in found]
    return found


def of_number(y: Any, tensors: Sequence[Tensor]) -> Tensor:
    """Return a number as a tensor; one of Python has the precision of the arguments."""
    if isinstance(y, np.ndarray | np.generic):
        return torch.from_numpy(np.array(y))
    dtype = torch.get_default_dtype()
    inexact = [x.dtype for x in tensors if x.dtype.is_floating_point or x.dtype.is_complex]
    if inexact:
        dtype = functools.reduce(torch.promote_types, inexact)
    if isinstance(y, complex):
        dtype = torch.promote_types(dtype, torch.complex32)
    return torch.tensor(y, dtype=dtype)


def gradients(
    pull: Any, dys: Sequence[Any], tensors: Sequence[Tensor], needed: Sequence[bool]
) -> list[Any]:
    """Return the cotangents of tensors, each of its dtype and on its device."""
    given = [None if dy is None else array_of(dy, False) for dy in dys]
    if given[0] is None and all(dy is None for dy in given):
        return [None] * len(tensors)
    cotangents = list(pull(given))
    found: list[Any] = []
    for i in range(len(tensors)):
        if not needed[i]:
            found.append(None)
        elif type(cotangents[i]) is not np.ndarray or cotangents[i] is given[0]:
            found.append(_gradient(cotangents[i], tensors[i], dys, given))
        else:
            dx = torch.from_numpy(owned(cotangents, i))
            found.append(dx if tensors[i].is_cpu else dx.to(tensors[i].device))
    return found


def _gradient(dx: Any, x: Tensor, dys: Sequence[Any], given: Sequence[Any]) -> Any:
    """Return the cotangent of a tensor, where it is not an array, or what was handed in."""
    if dx is None:
        return torch.zeros_like(x)
    if dx is given[0]:  # the host knows who holds it
        return dys[0]
    return torch.from_numpy(np.array(dx)).to(x.device)
