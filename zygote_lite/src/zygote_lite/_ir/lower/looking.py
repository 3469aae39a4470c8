"""Lowering of `locals()`, `vars()`, `dir()` and `globals()`, which look at variables.

`locals()` becomes a dict of the variables that have a value where it is called. From Python 3.13
on each call makes a dict of its own; before, all calls of one function fill one dict.
"""

import ast
import builtins
import inspect
import sys
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.bytecode import placed
from zygote_lite._ir.lower.variables import Variables

LOOKING = ("locals", "vars", "dir", "globals")
_IS_SHARED = sys.version_info < (3, 13)  # PEP 667


def looks_at_variables(e: ast.Call) -> bool:
    """Return whether a call has the form of one that looks at the variables around it."""
    name = e.func.id if isinstance(e.func, ast.Name) else ""
    return name in LOOKING and not e.args and not e.keywords


class Looking(Variables):
    """Lowering that knows calls which look at variables.

    Attributes:
        held: the variable for the dict that all calls of `locals()` fill.
        within: how many comprehensions are around.
    """

    held: str | None = None
    within = 0

    def is_replaced(self, name: str) -> bool:
        """Return whether the module has a function of its own by the name of a builtin."""
        return self.global_value(name) is not getattr(builtins, name)

    def variables(self, e: ast.Call, name: str, target: str | None) -> ir.Atom:
        """Append what `locals()`, `vars()`, `dir()` or `globals()` gives."""
        if name == "globals":
            return self.put(ir.GetAttribute, e, target, self.here(e), "__globals__")
        if self.in_class or self.within or "iterable_" in self.code.co_varnames:
            what = f"`{name}()` in a class, or in a comprehension"
            self.refuse(e, what, "call it before, in the function around it")
        found: Any = self.held
        if found is None or name == "dir":
            found = self.temporary()
            self.put(ir.Build, e, found, "dict", [])
            if _IS_SHARED and name != "dir":
                self.out.pop()  # it is made where the function begins
                self.held = found
        ignored = self.temporary()
        for variable in self.named():
            value: ir.Atom = ir.Name(variable)
            given: list[ir.Statement] = []
            if name == "dir":  # which asks for names alone
                given.append(ir.Move(e, ignored, value))
                value = ir.Const(None)
            given.append(ir.SetItem(e, ir.Name(found), ir.Const(variable), value))
            if variable not in inspect.getargs(self.code).args or not self.only_assigns({variable}):
                with self.collected() as lacks:
                    key: list[ir.Atom] = [ir.Const("pop"), ir.Const(variable), ir.Const(None)]
                    self.run(e, "invoke", [ir.Name(found), *key])
                unset = ast.copy_location(ast.Name("NameError", ast.Load()), e)
                given = [ir.Try(e, given, [ir.Handler(unset, None, lacks)], [], [])]
            self.out += given
        if name == "dir":
            return self.call(e, target, "sorted", [ir.Name(found)])
        return ir.Name(found) if target is None else self.put(ir.Move, e, target, ir.Name(found))

    def named(self) -> list[str]:
        """Return the names that the function gives to variables, in Python's order."""
        code = self.code
        names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
        return [n for n in names if n not in self.of_comprehensions]

    def here(self, e: ast.AST) -> ir.Atom:
        """Append a function, which knows the variables of its module."""
        here = self.temporary()
        there = placed(ast.parse(f"{here} = lambda: None").body[0], e)
        self.out.append(ir.Plain(there, [here]))
        return ir.Name(here)
