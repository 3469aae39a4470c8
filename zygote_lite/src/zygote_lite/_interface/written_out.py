"""Functions that exported code calls, written out beside it."""

import ast
import builtins
import dis
import inspect
import math
import textwrap
import types
from typing import Any

import numpy as np

from rulescore import Array, project
from zygote_lite._ir.recompile import TREES
from zygote_lite._specialize.text.spell import constant_text, spelled
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import UNSET, Unset

_PROJECT = '''\
def project(dx, x):
    """Give a cotangent the shape and the precision of what it belongs to."""
    dx, shape = np.asarray(dx), np.shape(x)
    dx = dx.sum(axis=tuple(range(dx.ndim - len(shape))))
    dx = dx.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)
    if dx.shape != shape:
        raise ValueError(f"a cotangent of the shape {dx.shape} is none of the shape {shape}")
    return dx.astype(x.dtype) if isinstance(x, np.ndarray) else type(x)(dx)'''


WITH_ZEROS = '''\
def with_zeros(d, x):
    """Put zeros where a gradient is None, since nothing passed there."""
    if isinstance(x, dict):
        return {key: with_zeros((d or {}).get(key), part) for key, part in x.items()}
    if isinstance(x, (list, tuple)):
        parts = [with_zeros(d[i] if d else None, part) for i, part in enumerate(x)]
        return parts if isinstance(x, list) else tuple(parts)
    if d is not None or x is None or isinstance(x, str):
        return d
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else float)
    return type(x)(0) if isinstance(x, (float, complex, np.inexact)) else 0.0'''


class Helpers:
    """The texts of functions, each before those that call it.

    Attributes:
        texts: what is to stand above the code.
    """

    def __init__(self, taken: set[str]) -> None:
        self.texts: list[str] = []
        self.named: dict[str, Any] = {}
        self.taken = taken

    def add(self, name: str, x: Any) -> None:
        """Write the object that a name stands for. Raises `NotSpecializable` if it cannot."""
        if name in self.named and self.named[name] is x:
            return
        if name in self.named or name in self.taken:
            raise NotSupported.NAMES(f"it calls two different functions named {name}: rename one")
        self.named[name] = x
        if x is project:
            self.texts.append(_PROJECT.replace("def project(", f"def {name}(", 1))
        elif x is WITH_ZEROS:
            self.texts.append(WITH_ZEROS)
        elif x is Array:  # the arrays of other libraries are not among the arguments
            self.texts.append(f"{name} = np.ndarray")
        elif x is UNSET:
            self.texts.append(f"{self.source(Unset, 'Unset')}\n\n\n{name} = Unset()")
        elif isinstance(x, types.FunctionType):
            self.texts.append(self.source(x, name))
        else:
            text = constant_text(x) or spelled(x)
            if text is None:
                raise NotSupported.EXPORT(
                    f"it calls {_name_and_place(x)}, which cannot be written as text"
                )
            self.texts.append(f"{name} = {text}")

    def source(self, x: Any, name: str) -> str:
        """Return the source of a function or class under another name."""
        try:
            with TREES:
                (tree,) = ast.parse(textwrap.dedent(inspect.getsource(x))).body
        except (OSError, TypeError, SyntaxError, ValueError):
            raise NotSupported.EXPORT(
                f"it calls {_name_and_place(x)}, whose source is not available"
            ) from None
        if not isinstance(tree, ast.FunctionDef | ast.ClassDef) or tree.decorator_list:
            raise NotSupported.EXPORT(
                f"it calls {_name_and_place(x)}, which is not a plain function"
            )
        if isinstance(x, types.FunctionType):
            if x.__closure__ or x.__defaults__ or x.__kwdefaults__:
                raise NotSupported.EXPORT(
                    f"it calls {_name_and_place(x)}, which has default values or is a closure"
                )
            self.add_globals(x.__code__, x.__globals__, x)
        tree.name = name
        return ast.unparse(_Unannotated().visit(tree))

    def add_globals(self, code: types.CodeType, globals_: dict[str, Any], f: Any) -> None:
        """Write what a function reads from its module."""
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                self.add_globals(inner, globals_, f)
        for name in _global_names(code):
            x = globals_.get(name, vars(builtins).get(name))
            if x is np or x is math:
                if name not in ("np", "math"):
                    raise NotSupported.NAMES(f"{_name_and_place(f)} imports {x.__name__} as {name}")
            elif name not in globals_ and name in vars(builtins):
                continue
            elif isinstance(x, types.ModuleType):
                raise NotSupported.EXPORT(
                    f"it calls {_name_and_place(f)}, which uses the module {x.__name__}"
                )
            else:
                self.add(name, x)


def _global_names(code: types.CodeType) -> list[str]:
    """Return the names that code reads from its module, each once."""
    steps = dis.get_instructions(code)
    return [*dict.fromkeys(str(step.argval) for step in steps if step.opname == "LOAD_GLOBAL")]


def _name_and_place(x: Any) -> str:
    """Return the name of what is called, and its place where it has one."""
    code = getattr(x, "__code__", None)
    if code is not None:
        return f"{x.__qualname__} ({code.co_filename}:{code.co_firstlineno})"
    return repr(x).strip("<>")


class _Unannotated(ast.NodeTransformer):
    """Remove annotations: they use names that the written module does not have."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign([node.target], node.value), node)
