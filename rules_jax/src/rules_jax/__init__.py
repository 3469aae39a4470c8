"""Calls of JAX inside NumPy code, differentiated by JAX.

`numpy(f)` makes a function of NumPy's arrays of a function of JAX. Its rule is imported when
JAX has been.
"""

from typing import Any

from rulescore import Section, hookimpl

__all__ = ["numpy"]
__version__ = "0.1.0"
__tracebackhide__ = True  # a rule runs in place of its function: see the README of rulescore


def numpy(f: Any, *, copy: bool = True) -> Any:
    """Return a function of NumPy arrays that calls a function of JAX.

    Arguments:
        f: a function of JAX's arrays, such as `jax.jit` returns. Arrays and floats reach it as
            arrays of JAX, also those in trees that JAX knows. It returns arrays, or trees of them.
            The cotangent of a registered dataclass is a `Tangent` by the names of its attributes. A
            gradient by an object or a closure that JAX does not look into is refused.
        copy: whether arrays are copied. Otherwise values are read-only views of the memory of JAX's
            arrays, and `f` reads the memory of arguments that begin at a multiple of 64 bytes, as
            such values do; JAX copies others.

    Keyword arguments are options, which have no gradient.
    """
    from rulescore.interop.foreign import imported

    return imported("rules_jax.calls", "jax").Numpy(f, copy)


@hookimpl
def rulescore_rules() -> list[Section]:
    """Return the rules of this plugin, to be imported when JAX has been."""
    return [Section("jax", "rules_jax.calls"), Section("jax", "rules_jax.arrays")]
