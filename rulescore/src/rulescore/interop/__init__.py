"""Functions with a rule as functions of other hosts: PyTorch, JAX and autograd.

Each host is an extra (`pip install "rulescore[torch]"`), which is imported when a function is
exported to it. Read in this order: `_trees`, `_differentiator`, `_calls` (a call as a function of
flat leaves), `_derivatives` (which are such calls too), `_functions`, `_modules`, then the module
of a host.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from rulescore._naming import describe
from rulescore.interop._differentiator import AD, Differentiator
from rulescore.interop._modules import ExportedModule

__all__ = ["to_torch", "to_jax", "to_autograd", "Differentiator"]


def differentiator_of(ad: AD | Differentiator | None) -> Differentiator:
    """Return what differentiates exported functions, for what was given as `ad`."""
    return ad if isinstance(ad, Differentiator) else Differentiator(ad)


def exported(f: Any, differentiator: Differentiator, export: Callable[[Any], Any]) -> Any:
    """Return a function of a host; of a module, what gives those of its functions."""
    if isinstance(f, ModuleType):
        return ExportedModule(f, differentiator, export)
    if not callable(f):
        raise TypeError(f"a function or a module is exported, and not {describe(f)}")
    return export(f)


def to_torch(f: Any, *, ad: AD | Differentiator | None = None, copy: bool = False) -> Any:
    """Return a function with a rule as one of PyTorch's tensors, which PyTorch differentiates.

    Arguments:
        f: a function of NumPy's arrays; or a module, such as `scipy.special`: the functions of
            that are attributes of what is returned.
        ad: an AD, as rules are handed one: it differentiates what has no rule, and second
            derivatives. Without it there are first derivatives of functions with a rule.
        copy: whether it is given copies, which it may write into.
    """
    from rulescore.interop._torch import TorchFunction

    differentiator = differentiator_of(ad)
    return exported(f, differentiator, lambda g: TorchFunction(g, differentiator, copy))


def to_jax(
    f: Any, *, ad: AD | Differentiator | None = None, mode: str = "reverse", result: Any = None
) -> Any:
    """Return a function with a rule as one of JAX's arrays, which JAX differentiates.

    Arguments:
        f: a function of NumPy's arrays without effects, or a module.
        ad: an AD, as for `to_torch`.
        mode: `"reverse"` for `jax.grad`, `jax.vjp` and what is made of them; `"forward"` for
            `jax.jvp`, and for `jax.grad` too where the function is elementwise.
        result: the value by shape and dtype, as a tree of `jax.ShapeDtypeStruct`, or a function
            that gives it for such arguments: `lambda x: x` for a value like the argument. It is
            needed inside `jit` and `vmap`, but for NumPy's universal functions and where the
            function has been called outside before with arguments of such shapes.

    Raises `TypeError` where the function prints, draws random numbers, or has other effects.
    """
    from rulescore.interop._jax import JaxFunction

    differentiator = differentiator_of(ad)
    return exported(f, differentiator, lambda g: JaxFunction(g, differentiator, mode, result))


def to_autograd(f: Any, *, ad: AD | Differentiator | None = None) -> Any:
    """Return a function with a rule as one that autograd differentiates.

    Arguments:
        f: a function of NumPy's arrays, or a module.
        ad: an AD, as for `to_torch`.
    """
    from rulescore.interop._autograd import AutogradFunction

    differentiator = differentiator_of(ad)
    return exported(f, differentiator, lambda g: AutogradFunction(g, differentiator))
