"""The mutations of a module: each is one change of one expression, as text and as a key."""

import ast
import builtins
import collections
import dataclasses

ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
ASKS_FOR_TYPES = {"isinstance", "issubclass", "cast", "TypeVar"}


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One change: where it is, the expression before and after, and the whole mutated source."""

    module: str  # the path of the module below its `src`
    function: str  # its qualified name, or `<module>`
    line: int
    before: str
    after: str
    count: int  # which one it is, where a function has the same change more than once
    source: str

    @property
    def key(self):
        """What the list of equivalent mutations knows it by: no line number is in it."""
        which = f" ({self.count})" if self.count > 1 else ""
        return f"{self.module} {self.function}: {self.before} => {self.after}{which}"


def mutations_of(module, source):
    """Return all mutations of the source of a module."""
    seen, found, lines = collections.Counter(), [], source.splitlines(keepends=True)
    for function, node, changed in Sites().of(ast.parse(source)):
        before, after = ast.unparse(node), ast.unparse(changed)
        mutated = replaced(lines, node, after)
        seen[function, before, after] += 1
        count = seen[function, before, after]
        found.append(Mutation(module, function, node.lineno, before, after, count, mutated))
    return found


def replaced(lines, node, text):
    """Return the source with another expression, or statement, in the place of `node`."""
    start, end = (node.lineno - 1, node.col_offset), (node.end_lineno - 1, node.end_col_offset)
    before = lines[start[0]].encode()[: start[1]].decode()  # columns are counted in bytes
    after = lines[end[0]].encode()[end[1] :].decode()
    text = f"({text})" if isinstance(node, ast.expr) else text
    kept = "\n" * (end[0] - start[0])  # the lines that follow keep their numbers
    opened = text[:-1] + kept + ")" if isinstance(node, ast.expr) else text
    return "".join([*lines[: start[0]], before + opened + after, *lines[end[0] + 1 :]])


class Sites(ast.NodeVisitor):
    """Walks over a module and notes what may change: (function, node, what replaces it)."""

    def of(self, tree):
        """Return the sites of a module."""
        self.found, self.names = [], []
        self.visit(tree)
        return self.found

    def change(self, node, *others):
        for other in others:
            self.found.append((".".join(self.names) or "<module>", node, other))

    def visit_body(self, node):
        self.names.append(name_of(node))
        for child in [*getattr(node, "decorator_list", ()), *node.body]:
            self.visit(child)
        if not isinstance(node, ast.ClassDef):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    self.visit(default)
        self.names.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_body

    def visit_nothing(self, node):
        """Errors and their texts, checks for mypy, f-strings (no places of parts in 3.11)."""

    visit_Raise = visit_Assert = visit_JoinedStr = visit_Import = visit_ImportFrom = visit_nothing

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in ASKS_FOR_TYPES:
            self.visit(node.args[0])
            return
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if not is_type(node.value):
            self.generic_visit(node)

    def visit_BinOp(self, node):
        if not isinstance(node.left, ast.Constant | ast.JoinedStr) or not is_text(node.left):
            self.change(node, ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        self.change(node, ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value))
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if not isinstance(node.op, ast.UAdd):
            self.change(node, node.operand)
        self.generic_visit(node)

    def visit_Compare(self, node):
        for k, op in enumerate(node.ops):
            for other in COMPARISONS[type(op)]:
                ops = [*node.ops[:k], other(), *node.ops[k + 1 :]]
                self.change(node, ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        self.change(node, ast.BoolOp(other, node.values))
        for k in range(len(node.values)):
            rest = [*node.values[:k], *node.values[k + 1 :]]
            self.change(node, ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            self.change(node, ast.Constant(not node.value))
        elif isinstance(node.value, int | float):
            self.change(node, ast.Constant(node.value + 1))
        elif node.value is None:
            self.change(node, ast.Constant(0))

    def visit_If(self, node):
        if not is_for_types(node.test):
            self.negate(node.test)
            self.generic_visit(node)

    def visit_While(self, node):
        self.negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node):
        self.change(node, node.body, node.orelse)
        self.generic_visit(node)

    def visit_comprehension(self, node):
        for test in node.ifs:
            self.negate(test)
        self.generic_visit(node)

    def visit_Return(self, node):
        value = node.value
        if value is not None and not isinstance(value, ast.Constant):
            self.change(value, ast.Constant(None))
        self.generic_visit(node)

    def negate(self, test):
        """Comparisons of two values and `not` are changed where they stand."""
        compared = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not compared and not isinstance(test, ast.UnaryOp):
            self.change(test, ast.UnaryOp(ast.Not(), test))


def name_of(node):
    """Return the name of a function or class; one named `_` is known by what declares it."""
    if node.name != "_" or not node.decorator_list:
        return node.name
    return f"_ of {ast.unparse(node.decorator_list[0])}"


def functions_by_line(tree, names=()):
    """Return the qualified names of functions by their first lines, which are of decorators."""
    found = {}
    for node in ast.iter_child_nodes(tree):
        inside = names
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = (*names, name_of(node))
            first = node.decorator_list[0] if node.decorator_list else node
            found[first.lineno] = ".".join(inside)
        found.update(functions_by_line(node, inside))
    return found


def is_text(node):
    return isinstance(node, ast.JoinedStr) or isinstance(node.value, str)


def is_type(node):
    """Return whether a subscript of this name is a type, as in `dict[int, Any]`."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("deque", "Callable", "Iterator", "MappingProxyType")
    if not isinstance(node, ast.Name):
        return False
    known = isinstance(getattr(builtins, node.id, None), type)
    return known or node.id in ("Callable", "Iterator", "Iterable", "Any", "Sequence", "Mapping")


def is_for_types(test):
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
