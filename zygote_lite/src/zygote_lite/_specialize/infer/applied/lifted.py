"""Functions that read objects, as functions that capture the attributes which they read.

A method that is given to a solver reads `self.rate`, and so does a function inside a method. Such a
function is made anew with a variable for each attribute, which is one of those that it captures.
"""

import ast
import copy
import itertools
import types
from collections.abc import Iterator

from zygote_lite._ir.bytecode import without_type_parameters
from zygote_lite._ir.source import definition_of, remember
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite.caches import cached

PathRead = tuple[str, ...]
"""The name of a variable, and of attributes one after the other."""

_made_so_far = itertools.count()


def paths_read(code: types.CodeType, variables: frozenset[str]) -> list[PathRead]:
    """Return the attributes, and those of attributes, that a function reads of some variables.

    Raises `NotSpecializable` where it does anything else with these.
    """
    found: dict[PathRead, None] = {}
    whole = ast.Module([_without_parameter(code, variables)], [])
    inner = {id(n.value) for n in ast.walk(whole) if isinstance(n, ast.Attribute)}
    for node in ast.walk(whole):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            path = _path_of(node)
            if path and path[0] in variables and isinstance(node.ctx, ast.Load):
                found[path] = None
    alone = _Taking(dict.fromkeys(found, "")).visit(copy.deepcopy(whole))
    words = {*_words_in(alone)}
    if words & variables or any(w.startswith("__") and not w.endswith("__") for w in words):
        raise NotSupported.RULE_OPERAND(
            f"{code.co_name} does more with an object than to read attributes, and is given to a "
            "function whose rule takes the engine"
        )
    return [*found]


@cached(1024)
def with_attributes(
    code: types.CodeType, variables: frozenset[str], paths: tuple[PathRead, ...]
) -> tuple[types.CodeType, dict[str, PathRead]]:
    """Return the code of a function that captures what it reads of some variables.

    Arguments:
        code: the function's own.
        variables: its variables, of which the first parameter may be one: it is left out.
        paths: what it reads of them.

    Returns the code, and the paths by the names of the variables that hold what is there.
    """
    node = _without_parameter(code, variables)
    taken, names = {*_words_in(node), *code.co_freevars}, {}
    for path in paths:
        name = "_".join(path)
        while name in taken:
            name += "_"
        taken.add(name)
        names[path] = name
    made = _Taking(names).visit(node)
    free = [*names.values(), *[name for name in code.co_freevars if name not in variables]]
    body = [ast.Return(made.body)] if isinstance(made, ast.Lambda) else made.body
    title = f"{code.co_name.strip('<>')}_of_attributes_{next(_made_so_far)}"
    definition = without_type_parameters(ast.FunctionDef(title, made.args, body, []))
    ast.copy_location(definition, made)
    ast.fix_missing_locations(definition)
    remember(code.co_filename, definition)
    given = ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, [])
    shell = without_type_parameters(ast.FunctionDef("around", given, [definition], []))
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(shell, definition)], []))
    around = next(_codes_within(compile(module, code.co_filename, "exec")))
    return next(_codes_within(around)), {name: path for path, name in names.items()}


def _codes_within(code: types.CodeType) -> Iterator[types.CodeType]:
    return (x for x in code.co_consts if isinstance(x, types.CodeType))


def _without_parameter(code: types.CodeType, variables: frozenset[str]) -> ast.FunctionDef:
    """Return the definition of a function, without a first parameter that is a variable of these.

    Without decorators, annotations and defaults, too: those are the function's.
    """
    node = copy.deepcopy(definition_of(code))
    for parameters in (node.args.posonlyargs, node.args.args):
        if parameters and parameters[0].arg in variables:
            del parameters[0]
            break
    for n in ast.walk(node):
        if isinstance(n, ast.arg):
            n.annotation = None
    node.args.defaults = []
    node.args.kw_defaults = [None for _ in node.args.kwonlyargs]
    if isinstance(node, ast.FunctionDef):
        node.decorator_list, node.returns = [], None
    return node  # type: ignore[return-value]


def _path_of(node: ast.expr) -> PathRead | None:
    """Return the path that an expression reads; `None` of another expression."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if not isinstance(node, ast.Attribute) or node.attr.startswith("__"):
        return None
    before = _path_of(node.value)
    return None if before is None else (*before, node.attr)


class _Taking(ast.NodeTransformer):
    """Put variables into the place of paths."""

    def __init__(self, names: dict[PathRead, str]) -> None:
        self.names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        path = _path_of(node)
        if path in self.names and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Name(self.names[path], ast.Load()), node)
        return self.generic_visit(node)


def _words_in(node: ast.AST) -> Iterator[str]:
    """Yield all words of a syntax tree that may be names."""
    for n in ast.walk(node):
        for _, x in ast.iter_fields(n):
            for word in x if isinstance(x, list) else [x]:
                if isinstance(word, str):
                    yield word
