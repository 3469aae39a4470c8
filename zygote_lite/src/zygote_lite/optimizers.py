"""Optimizers: small functions of a model, its gradient and a state, which return new ones.

    state = None
    for _ in range(100):
        gradient = grad(loss)(model)
        model, state = adam(model, gradient, state, rate=0.01)

A model is any tree (`zygote_lite.tree_map`): its floating-point numbers are trained, wherever their
gradient is not `None`. All else stays as it is, and so does what `frozen` names: fields and keys,
or paths of them. The given model is not changed. A state is a tuple of numbers and dicts. A dict
has what belongs to each number or array of the model by its path, a tuple of keys and names.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from rulescore import zero
from zygote_lite._interface.trees import TreeWalk, is_float
from zygote_lite._ir.frames import entry
from zygote_lite._ir.places import where
from zygote_lite._tape.validate import describe
from zygote_lite.errors import Fault

__all__ = ["sgd", "adam"]

OptimizerState = tuple[Any, ...]


@entry
def sgd(
    model: Any,
    gradient: Any,
    state: OptimizerState | None = None,
    *,
    rate: float = 0.01,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    frozen: Collection[str] = (),
) -> tuple[Any, OptimizerState]:
    """Return a model after a step of gradient descent, and the state for the next step.

    Arguments:
        model: a tree.
        gradient: its gradient, as `grad` returns it.
        state: what the last step returned; `None` for the first step.
        rate: the length of a step. Negative rates ascend.
        momentum: the share of the last step that is added: `v = momentum * v + gradient`.
        weight_decay: how much each step shrinks the numbers, times `rate`, apart from the gradient
            and its momentum.
        frozen: names of fields and keys, or paths, that stay as they are.

    The numbers keep their shapes and their precision. Raises `ValueError` if the gradient does not
    have the structure and the shapes of the model, or is `None` as a whole.
    """

    def step(x: Any, d: Any, velocity: Any) -> tuple[Any, Any]:
        velocity = momentum * velocity + d
        return x - rate * (velocity + weight_decay * x if weight_decay else velocity), velocity

    (velocities,) = _state_of_last(state, (None,), "sgd")
    made, velocities = _stepped(model, gradient, step, velocities, zero, frozen)
    return made, (velocities,)


@entry
def adam(
    model: Any,
    gradient: Any,
    state: OptimizerState | None = None,
    *,
    rate: float = 0.001,
    decay: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
    weight_decay: float = 0.0,
    frozen: Collection[str] = (),
) -> tuple[Any, OptimizerState]:
    """Return a model after a step of Adam, and the state for the next step.

    Arguments:
        model: a tree.
        gradient: its gradient, as `grad` returns it.
        state: what the last step returned; `None` for the first step.
        rate: the length of a step.
        decay: the factors by which the running means of the gradient, and of its square, decay.
        epsilon: what is added to the root of the mean square.
        weight_decay: how much each step shrinks the numbers, times `rate`, apart from the gradient
            (AdamW).
        frozen: names of fields and keys, or paths, that stay as they are.

    The numbers keep their shapes and their precision. Raises `ValueError` if the gradient does not
    have the structure and the shapes of the model, or is `None` as a whole.
    """
    count, moments = _state_of_last(state, (0, None), "adam")
    count += 1
    if not (isinstance(decay, tuple | list) and len(decay) == 2):
        raise Fault.OPTION_VALUE(
            f"{where()}: `decay` is {describe(decay)}: give the two factors, as in `(0.9, 0.999)`"
        )
    first, second = decay
    correction = np.sqrt(1 - second**count) / (1 - first**count)

    def step(x: Any, d: Any, moment: Any) -> tuple[Any, Any]:
        mean = first * moment[0] + (1 - first) * d
        square = second * moment[1] + (1 - second) * np.real(d * np.conj(d))
        change = correction * mean / (np.sqrt(square) + epsilon * np.sqrt(1 - second**count))
        change = change + weight_decay * x if weight_decay else change  # 0 times infinity is nan
        return x - rate * change, (mean, square)

    def zeros(x: Any) -> Any:
        return zero(x), np.real(zero(x))

    made, moments = _stepped(model, gradient, step, moments, zeros, frozen)
    return made, (count, moments)


def _state_of_last(state: Any, begun: OptimizerState, optimizer: str) -> OptimizerState:
    """Return the state of the last step, which is `begun` before the first one."""
    if state is None:
        return begun
    if type(state) is tuple and len(state) == len(begun) and isinstance(state[-1], dict):
        return state
    raise Fault.TREE(
        f"{where()}: the state given to {optimizer} is {describe(state)}: give what its last step "
        "returned, or `None` for the first step; the length of a step is `rate=...`"
    )


def _stepped(
    model: Any, gradient: Any, step: Any, states: Any, first: Any, frozen: Collection[str]
) -> tuple[Any, dict[tuple[Any, ...], Any]]:
    """Return a model after a step of its leaves, and the states of these, by their paths."""
    if gradient is None:
        raise Fault.TREE(
            f"{where()}: the gradient of the whole model is `None`: give one of a loss that "
            "depends on the model"
        )
    new: dict[tuple[Any, ...], Any] = {}

    def leaf(x: Any, d: Any) -> Any:
        state, path = first(x), tuple(walk.keys)
        if states is not None:
            shape, state = np.shape(state), states.get(path)
            if state is None or np.shape(state) != shape:
                raise _of_another_model()
        if d is None:
            new[path] = state
            return x
        if not _is_gradient_of(x, d):
            raise Fault.TREE(
                f"{where()}: {describe(x)} has a gradient that is {describe(d)}: give the gradient "
                "of this model"
            )
        y, state = step(x, d, state)
        new[path] = state
        return np.asarray(y, x.dtype) if isinstance(x, np.ndarray) else type(x)(y)

    walk = TreeWalk(leaf, is_float, frozen)
    made = walk.new(model, (gradient,))
    if states is not None and len(new) != len(states):
        raise _of_another_model()
    return made, new


def _is_gradient_of(x: Any, d: Any) -> bool:
    """Return whether a gradient is numbers in the shape of a leaf, and real if the leaf is."""
    if isinstance(d, list | tuple) or np.shape(d) != np.shape(x):
        return False
    kinds = "fiuc" if np.iscomplexobj(x) else "fiu"
    return np.asarray(d).dtype.kind in kinds


def _of_another_model() -> Exception:
    return Fault.TREE(
        f"{where()}: the state is that of another model, or of other `frozen` fields: give what "
        "the last step of this one returned, or `None` for the first step"
    )
