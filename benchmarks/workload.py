"""What a workload is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """A function, its arguments, and its gradient as an expert writes it.

    `by_hand` and `rewritten` take the arguments and return the value and the tuple of gradients
    with respect to `argnums`. If `hvp` is true, the last argument is a vector that `f` does not
    take, and in place of the gradient there is the Hessian with respect to argument 0 times this
    vector, and `None` in place of the value.
    """

    name: str
    title: str
    f: Callable[..., Any]
    by_hand: Callable[..., Any]
    arguments: Callable[..., tuple[Any, ...]]  # of a random generator, and sizes by name
    argnums: tuple[int, ...]
    sizes: dict[str, int] = field(default_factory=dict)
    small: dict[str, int] = field(default_factory=dict)  # sizes for a test
    rewritten: Callable[..., Any] | None = None
    compiles: bool = False  # scalars and loops, for `value_and_grad(f, compile=True)`
    hvp: bool = False
    goal: float | None = None  # of zygote_lite, as a multiple of the time of `by_hand`
    compiled_goal: float | None = None

    def make_arguments(self, small: bool = False) -> tuple[Any, ...]:
        """Return the arguments, the same each time."""
        return self.arguments(np.random.default_rng(0), **(self.small if small else self.sizes))

    def primal_arguments(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of `f` itself."""
        return arguments[:-1] if self.hvp else arguments
