"""Functions with a rule as functions of other hosts: PyTorch, JAX and autograd.

Each host is an extra (`pip install "rulescore[torch]"`), which is imported when a function is
exported to it. Read in this order: `_trees`, `_differentiator`, `_calls` (a call as a function of
flat leaves), `_derivatives` (which are such calls too), `_functions`, `_modules`, then the module
of a host.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

from rulescore._errors import Fault
from rulescore._naming import describe
from rulescore.interop._differentiator import AD, Differentiator
from rulescore.interop._modules import ExportedModule, ExportedPlugin, plugin_of

__all__ = ["to_torch", "to_jax", "to_autograd", "Differentiator"]
Exporter = TypeVar("Exporter", bound=Callable[..., Any])


def differentiator_of(ad: AD | Differentiator | None) -> Differentiator:
    """Return what differentiates exported functions, for what was given as `ad`."""
    return ad if isinstance(ad, Differentiator) else Differentiator(ad)


def exported(f: Any, differentiator: Differentiator, export: Callable[[Any], Any]) -> Any:
    """Return a function of a host; of a module or a plugin, what gives those of its functions."""
    plugin = plugin_of(f)
    if plugin is not None:
        return ExportedPlugin(plugin, differentiator, export)
    if isinstance(f, ModuleType):
        found = ExportedModule(f, differentiator, export)
        if not found.is_empty():
            return found
        raise Fault.HOST_CALL.of(
            TypeError,
            f"no function of {f.__name__} can be exported: nobody has a rule for one. Give "
            "another module, or export a function by `zygote_lite.interop`, which differentiates "
            "its source",
        )
    if not callable(f):
        raise Fault.HOST_CALL.of(
            TypeError,
            f"a function or a module is exported, and not {describe(f)}: give the function itself",
        )
    return export(f)


def _needs(host: str) -> Callable[[Exporter], Exporter]:
    """Decorate an export to a host: where that is not installed, say what to install."""

    def decorate(export: Exporter) -> Exporter:
        @functools.wraps(export)
        def called(*xs: Any, **options: Any) -> Any:
            try:
                return export(*xs, **options)
            except ModuleNotFoundError as error:
                if str(error.name).partition(".")[0] != host:
                    raise
                told = f'{host} is not installed here: run `pip install "rulescore[{host}]"`'
                raise ModuleNotFoundError(Fault.HOST.message(told), name=host) from None

        return cast(Exporter, called)

    return decorate


@_needs("torch")
def to_torch(f: Any, *, ad: AD | Differentiator | None = None, copy: bool = False) -> Any:
    """Export a function with a rule to PyTorch, which differentiates it.

    Arguments:
        f: a function of NumPy arrays; or a module, such as `scipy.special`, for an object with the
            functions of that module; or a plugin or its name, such as `"rules_scipy"`, for one with
            all functions that it has rules for.
        ad: an AD, as rules are given one. It differentiates functions without a rule, and gives
            second derivatives. Without it there are first derivatives of functions with a rule.
        copy: whether `f` gets copies of its arguments, which it may write into.

    What is returned raises `RuleError` where a gradient is asked for and there is no rule, and
    `TypeError` for tensors that NumPy does not know (`bfloat16`).
    """
    from rulescore.interop._torch import TorchFunction

    differentiator = differentiator_of(ad)
    return exported(f, differentiator, lambda g: TorchFunction(g, differentiator, copy))


@_needs("jax")
def to_jax(
    f: Any, *, ad: AD | Differentiator | None = None, mode: str = "reverse", result: Any = None
) -> Any:
    """Export a function with a rule to JAX, which differentiates it.

    Arguments:
        f: a function of NumPy arrays without side effects, a module, or a plugin.
        ad: an AD, as for `to_torch`.
        mode: `"reverse"` for `jax.grad`, `jax.vjp` and what is built on them; `"forward"` for
            `jax.jvp`, and also for `jax.grad` if the function is elementwise.
        result: the shape and dtype of the value, as a tree of `jax.ShapeDtypeStruct`, or a function
            of such arguments that returns it: `lambda x: x` for a value like the argument. `jit`
            and `vmap` need it, except for NumPy's universal functions, and after a call outside of
            them with arguments of these shapes.

    Raises `TypeError` if the function is known to print, to draw random numbers, or to have other
    side effects. A function with a rule is what the author of the rule says.
    """
    from rulescore.interop._jax import JaxFunction

    differentiator = differentiator_of(ad)
    return exported(f, differentiator, lambda g: JaxFunction(g, differentiator, mode, result))


@_needs("autograd")
def to_autograd(f: Any, *, ad: AD | Differentiator | None = None) -> Any:
    """Export a function with a rule to autograd, which differentiates it.

    Arguments:
        f: a function of NumPy arrays, a module, or a plugin.
        ad: an AD, as for `to_torch`.

    What is returned raises `RuleError` where a gradient is asked for and there is no rule.
    """
    from rulescore.interop._autograd import AutogradFunction

    differentiator = differentiator_of(ad)
    return exported(f, differentiator, lambda g: AutogradFunction(g, differentiator))
