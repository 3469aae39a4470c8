"""The text that `eval` or `exec` is given, as a function of the dicts that hold its variables.

A name outside of functions is an item of a dict. Functions in a text know the variables of the
module alone, as they do in Python. What would be another thing here is refused.
"""

import ast
import sys
import types
from dataclasses import dataclass
from typing import Any, NoReturn

from zygote_lite._ir.bytecode import codes_in, without_type_parameters
from zygote_lite._ir.recompile import TREES
from zygote_lite._ir.source import note_definition
from zygote_lite.caches import cached

LOOKING_AROUND = frozenset({"locals", "globals", "vars", "dir", "eval", "exec", "super"})
_OWN_VARIABLES, _OF_MODULE, _READER, _OLD_VALUE = "variables_", "module_", "read_", "old_"
_HAS_OWN_SCOPE: tuple[type[ast.AST], ...] = (ast.GeneratorExp,)
if sys.version_info < (3, 12):  # PEP 709
    _HAS_OWN_SCOPE += (ast.ListComp, ast.SetComp, ast.DictComp)


class NotATextFunctionError(Exception):
    """Tell what of a text is not followed."""


@dataclass(frozen=True)
class TextFunction:
    """A text as a function of its variables, those of the module, and what reads one of these.

    Attributes:
        code: the code of the function.
        of_module: the names that functions in the text may read of the module.
        has_functions: whether there are functions in the text.
    """

    code: types.CodeType
    of_module: frozenset[str]
    has_functions: bool

    def made(self, module: dict[str, Any]) -> types.FunctionType:
        """Return the function, of a module."""
        space = module if self.has_functions else {"__builtins__": module["__builtins__"]}
        return types.FunctionType(self.code, space)


@cached(256)
def text_function(text: str | bytes, kind: str, flags: int) -> TextFunction:
    """Return what does the same as `eval` or `exec` (`kind`) does with a text.

    Raises `NotATextFunctionError` with what is not followed.
    """
    with TREES:
        tree: Any = compile(text, "<string>", kind, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    names = _AsItems()
    if kind == "eval":
        body: list[Any] = [ast.copy_location(ast.Return(names.visit(tree.body)), tree.body)]
    else:
        documentation = ast.get_docstring(tree, clean=False)
        body = names.block(tree.body) or [ast.Pass()]
        if documentation is not None:
            first: Any = body[0]
            target = names.item("__doc__", ast.Store(), first)
            body[0] = ast.copy_location(ast.Assign([target], first.value), first)
    parameters = [ast.arg(name) for name in (_OWN_VARIABLES, _OF_MODULE, _READER)]
    arguments = ast.arguments([], parameters, None, [], [], None, [])
    node = without_type_parameters(ast.FunctionDef("text", arguments, body, []))
    node.lineno = node.end_lineno = 1
    node.col_offset = node.end_col_offset = 0
    module = ast.fix_missing_locations(ast.Module([node], []))
    with TREES:
        whole = compile(module, "<string>", "exec", flags, dont_inherit=True)
    code = next(c for c in whole.co_consts if isinstance(c, types.CodeType))
    if code.co_cellvars:
        raise NotATextFunctionError(f"functions in it use its own `{code.co_cellvars[0]}`")
    inner = [part for part in codes_in(code) if part is not code]
    note_definition(code, lambda: node)
    return TextFunction(code, frozenset(n for c in inner for n in c.co_names), bool(inner))


class _AsItems(ast.NodeTransformer):
    """Variables outside of functions, as items of a dict."""

    def __init__(self) -> None:
        self.bound: list[str] = []  # by comprehensions around

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        raise NotATextFunctionError(f"has {what} in its line {getattr(node, 'lineno', 1)}")

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found = []
        for s in body:
            made = self.visit(s)
            found += made if isinstance(made, list) else [made]
        return found

    def item(self, name: str, context: ast.expr_context, node: ast.AST) -> Any:
        key = ast.Constant(name)
        made = ast.Subscript(ast.Name(_OWN_VARIABLES, ast.Load()), key, context)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def kept(self, name: str, node: ast.AST) -> ast.stmt:
        """Return what makes a variable of the function one of the text."""
        made = ast.Assign([self.item(name, ast.Store(), node)], ast.Name(name, ast.Load()))
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self.bound:
            return node
        if node.id in LOOKING_AROUND:
            self.refuse(node, f"`{node.id}`")
        if isinstance(node.ctx, ast.Del):
            self.refuse(node, "`del`")
        if isinstance(node.ctx, ast.Store):
            return self.item(node.id, node.ctx, node)
        operands = [ast.Name(n, ast.Load()) for n in (_OWN_VARIABLES, _OF_MODULE)]
        made = ast.Call(ast.Name(_READER, ast.Load()), [*operands, ast.Constant(node.id)], [])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        old = self.visit(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        name = ast.Name(_OLD_VALUE, ast.Store())
        made = [
            ast.Assign([name], old),
            ast.AugAssign(name, node.op, self.visit(node.value)),
            ast.Assign(
                [self.item(node.target.id, ast.Store(), node)], ast.Name(_OLD_VALUE, ast.Load())
            ),
        ]
        return [ast.fix_missing_locations(ast.copy_location(s, node)) for s in made]

    # -- scopes --------------------------------------------------------------------------------

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self.defaults(node.args)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        arguments = ast.walk(node.args)
        if node.returns or any(isinstance(a, ast.arg) and a.annotation for a in arguments):
            self.refuse(node, "annotations")
        if getattr(node, "type_params", ()):
            self.refuse(node, "type parameters")
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        self.defaults(node.args)
        return [node, self.kept(node.name, node)]

    def defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(x) for x in arguments.defaults]
        arguments.kw_defaults = [x and self.visit(x) for x in arguments.kw_defaults]

    def visit_ListComp(self, node: Any) -> Any:
        first = node.generators[0]
        if isinstance(node, _HAS_OWN_SCOPE):
            first.iter = self.visit(first.iter)
            return node
        targets = [n for g in node.generators for n in ast.walk(g.target)]
        count = len(self.bound)
        first.iter = self.visit(first.iter)
        self.bound += [n.id for n in targets if isinstance(n, ast.Name)]
        for i, part in enumerate(node.generators):
            part.target = self.visit(part.target)
            part.iter = part.iter if i == 0 else self.visit(part.iter)
            part.ifs = [self.visit(x) for x in part.ifs]
        for name in {"elt", "key", "value"} & {*node._fields}:
            setattr(node, name, self.visit(getattr(node, name)))
        del self.bound[count:]
        return node

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        return self.visit_ListComp(node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        return self.visit_ListComp(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self.visit_ListComp(node)

    # -- imports, and what is not followed -----------------------------------------------------

    def visit_Import(self, node: Any) -> Any:
        names = [a.asname or a.name.partition(".")[0] for a in node.names]
        if "*" in names:
            self.refuse(node, "`import *`")
        return [node, *(self.kept(name, node) for name in names)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        return self.visit_Import(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        if node.name is not None:
            self.refuse(node, "`except` with a name")
        return self.generic_visit(node)

    def generic_visit(self, node: Any) -> Any:
        what = next((words for kinds, words in _NOT_IN_TEXTS if isinstance(node, kinds)), None)
        if what is not None:
            self.refuse(node, what)
        return super().generic_visit(node)


_NOT_IN_TEXTS: list[tuple[tuple[type[ast.AST], ...], str]] = [
    ((ast.ClassDef,), "a class"),
    ((ast.NamedExpr,), "`:=`"),
    ((ast.AnnAssign,), "annotations"),
    ((ast.Global, ast.Nonlocal), "`global`"),
    ((ast.Match,), "`match`"),
    ((ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await), "`async`"),
    ((ast.TryStar,), "`except*`"),
]
if hasattr(ast, "TypeAlias"):
    _NOT_IN_TEXTS.append(((ast.TypeAlias,), "`type`"))
