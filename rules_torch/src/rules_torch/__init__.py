"""Calls of PyTorch inside NumPy code, differentiated by PyTorch.

`numpy(f)` makes a function of NumPy's arrays of a function of PyTorch. Functions and methods that
are called on tensors have rules, too. The rules are imported when PyTorch has been.
"""

from typing import Any

from rulescore import Section, hookimpl

__all__ = ["numpy"]
__version__ = "0.1.0"
__tracebackhide__ = True  # a rule runs in place of its function: see the README of rulescore


def numpy(f: Any, *, copy: bool | None = None) -> Any:
    """Return a function of NumPy arrays that calls a function of PyTorch.

    Arguments:
        f: a `torch.nn.Module`, or a function of tensors. Arrays and floats reach it as tensors,
            also those in tuples, lists and dicts. It returns tensors, or such trees of them.
        copy: whether the function gets copies, which it may write into, or tensors that share the
            memory of the arrays, which it must not write into: it raises `RuntimeError` then. By
            default functions of PyTorch, and modules that are made of its layers alone, share the
            memory, if they are given arrays and numbers; all others get copies.

    The cotangent of a module is a `Tangent` of its parameters, as arrays, by the names of
    `named_parameters`; a parameter that needs no gradient has `None`.
    """
    from rulescore.interop.foreign import imported

    return imported("rules_torch.calls", "torch").Numpy(f, copy)


@hookimpl
def rulescore_rules() -> list[Section]:
    """Return the rules of this plugin, to be imported when PyTorch has been."""
    return [Section("torch", "rules_torch.calls"), Section("torch", "rules_torch.tensors")]
