"""Functions, classes and comprehensions, and the definition of a code object, which is proved."""

import ast
import inspect
from types import CodeType
from typing import Any

from zygote_lite._ir.bytecode import codes_in, parameters_of, without_type_parameters
from zygote_lite._ir.decompile.equal import documentation, first_difference
from zygote_lite._ir.decompile.graph import Graph
from zygote_lite._ir.decompile.instructions import Instruction, NotFollowedError
from zygote_lite._ir.decompile.matches import MatchStatements
from zygote_lite._ir.decompile.statements import ITERATION
from zygote_lite._ir.decompile.values import (
    Appended,
    Choices,
    MadeFunction,
    Progress,
    SharedValue,
    TargetSlot,
    Walked,
)
from zygote_lite._ir.recompile import TREES

_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_NOTED = {"__module__", "__qualname__", "__firstlineno__", "__static_attributes__"}


def definition(code: CodeType) -> ast.FunctionDef | ast.Lambda:
    """Return a definition that compiles to code that does the same as a function's.

    Raises `NotFollowedError`, with the line, where none is found.
    """
    if any(c.co_flags & _ASYNC for c in codes_in(code)):
        raise NotFollowedError("an `async` function")
    names = {n for c in codes_in(code) for n in (*c.co_varnames, *c.co_names)} - {".0"}
    odd = [n for n in names if not n.replace(".", "").isidentifier()]  # `import a.b`
    if odd:
        raise NotFollowedError(f"the name {odd[0]}")
    most = _MOST_READ // sum(len(c.co_code) for c in codes_in(code))
    tried: list[dict[Any, int | None]] = [{}]
    refusal = None
    for wanted in tried:  # which grows: the likeliest choices, then one other, then two
        choices = Choices(wanted=wanted)
        try:
            return _proved(code, choices)
        except NotFollowedError as error:
            refusal = refusal or error
        others = [
            {**wanted, key: place}
            for key, places in choices.made.items() if key not in wanted
            for place in places[1:]
        ]  # fmt: skip
        tried += others[: max(most - len(tried), 0)]
    assert refusal is not None
    raise refusal


_MOST_READ = 50_000  # bytes of code, in all attempts together


def _proved(code: CodeType, choices: Choices) -> ast.FunctionDef | ast.Lambda:
    """Return a definition by some choices, which compiles to code that does the same."""
    try:
        decompiler = Decompiler.of(code, choices)
        node: ast.FunctionDef | ast.Lambda = decompiler.function(
            MadeFunction(code), decompiler.graph.ops[0]
        )
        found = _compiled_again(node, code, choices.modules)
        wrong = "its form" if found is None else first_difference(code, found)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        place = "" if choices.last is None else f" ({choices.last.name} in {choices.last})"
        raise NotFollowedError(f"its statements are not recognized{place}") from error
    if wrong is not None:
        raise NotFollowedError(f"its statements are not recognized ({wrong})")
    return node


def _compiled_again(node: Any, code: CodeType, imported: set[str]) -> CodeType | None:
    """Return the code of a definition among functions that have the variables it captures."""
    parameters = ast.arguments(
        [], [ast.arg(name) for name in code.co_freevars], None, [], [], None, []
    )
    body: list[Any] = [ast.Expr(node)] if isinstance(node, ast.Lambda) else [node]
    if code.co_name not in (*code.co_freevars, "<lambda>"):
        body.insert(0, ast.Global([code.co_name]))
    around = without_type_parameters(ast.FunctionDef("around", parameters, body, []))
    imports: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in sorted(imported)]
    whole: list[ast.stmt] = [*imports, ast.copy_location(around, node)]
    module = ast.fix_missing_locations(ast.Module(whole, []))
    try:
        with TREES:
            made = compile(module, code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, TypeError):
        return None
    found = [c for c in codes_in(made) if c.co_name == code.co_name]
    return found[0] if found else None


class Decompiler(MatchStatements):
    """The decompiling of one code object."""

    @classmethod
    def of(cls, code: CodeType, choices: Choices) -> "Decompiler":
        one_end = choices.of((code, "one end"), 0, [1])
        return cls(Graph(code, one_end=bool(one_end)), choices)

    def body(self) -> list[ast.stmt]:
        s = Progress(self.graph.entry, [])
        self.run(s, {})
        return s.out

    def yields(self) -> bool:
        return any(op.name in ("YIELD_VALUE", "SEND") for op in self.graph.ops)

    def function(self, made: MadeFunction, op: Instruction) -> Any:
        code = made.code
        inner = Decompiler.of(code, self.choices)
        body = inner.body()
        if made.bases is not None:
            return self.class_(made, body, op)
        arguments = _parameters(made)
        if code.co_name == "<lambda>":
            return self.place(ast.Lambda(arguments, _as_expression(body, op)), op)
        if isinstance(body[-1], ast.Return) and _is_literal_none(body[-1].value):
            body.pop()
        if code.co_flags & inspect.CO_GENERATOR and not inner.yields():
            never = ast.If(ast.Constant(False), [ast.Expr(ast.Yield(None))], [])
            body.append(self.place(never, op))
        body = [*_declarations(inner), *body]
        text = documentation(code)
        if text is not None:
            body.insert(0, ast.Expr(ast.Constant(text)))
        return self.defined(
            ast.FunctionDef(code.co_name, arguments, body or [ast.Pass()], made.decorators,
                            made.annotations.get("return")),
            code,
        )  # fmt: skip

    def defined(self, node: Any, code: CodeType) -> Any:
        without_type_parameters(node)
        node.lineno = node.end_lineno = code.co_firstlineno
        node.col_offset = node.end_col_offset = 0
        return ast.fix_missing_locations(node)

    def class_(self, made: MadeFunction, body: list[ast.stmt], op: Instruction) -> ast.ClassDef:
        statements = [
            *_declarations(Decompiler.of(made.code, self.choices)),
            *map(_as_of_class, body),
        ]
        kept = [s for s in statements if s is not None]
        if kept and isinstance(kept[-1], ast.Return):
            kept.pop()
        node = ast.ClassDef(
            made.code.co_name, made.bases or [], made.keywords, kept or [ast.Pass()],
            made.decorators,
        )  # fmt: skip
        return self.defined(node, made.code)  # type: ignore[no-any-return]

    def op_setup_annotations(self, op: Instruction, s: Progress) -> None:
        pass

    def op_return_value(self, op: Instruction, s: Progress) -> None:
        value = s.stack[-1]
        if isinstance(value, SharedValue) and _is_class_cell(value.targets[0]):
            s.at = None
        else:
            super().op_return_value(op, s)

    # -- comprehensions ------------------------------------------------------------------------

    def comprehension(self, made: MadeFunction, walked: Walked, op: Instruction) -> ast.expr:
        body = Decompiler.of(made.code, self.choices).body()
        if made.code.co_name == "<genexpr>":
            element, generators = _folded(body[0], op)
            found: Any = ast.GeneratorExp(element, generators)
        else:
            found = body[0].value  # type: ignore[attr-defined]
        found.generators[0].iter = walked.value
        return found  # type: ignore[no-any-return]

    def is_comprehension(self, op: Instruction, s: Progress) -> bool:
        if op.name != "FOR_ITER" or len(s.stack) < 2:
            return False
        walked, made = s.stack[-1], s.stack[-2]
        is_walked = isinstance(walked, Walked | ast.Name)
        is_empty = isinstance(made, ast.List | ast.Set) and not made.elts
        return is_walked and (is_empty or (isinstance(made, ast.Dict) and not made.values))

    def inlined(self, op: Instruction, s: Progress) -> None:
        assert s.at is not None
        targets: list[ast.expr] = []
        body = Progress(
            op.following[0], [*s.stack, TargetSlot(targets.append)], handlers=s.handlers
        )
        body.base = len(s.stack)
        self.run(body, {s.at: ITERATION})
        walked, made = s.stack.pop(), s.stack.pop()
        value = walked.value if isinstance(walked, Walked) else walked
        loop = ast.For(targets[0], value, body.out, [])
        element, generators = _folded(loop, op)
        if isinstance(made, ast.Dict):
            key, item = element.elts  # type: ignore[attr-defined]
            found: Any = ast.DictComp(key, item, generators)
        else:
            kind: Any = ast.ListComp if isinstance(made, ast.List) else ast.SetComp
            found = kind(element, generators)
        self.push(s, found, op)
        ast.copy_location(found, made)
        s.at = self.after_iterator(op.following[1], len(s.stack))


def _folded(loop: Any, op: Instruction) -> tuple[ast.expr, list[ast.comprehension]]:
    """Return the element and the generators of a comprehension that is written as a loop."""
    generators: list[ast.comprehension] = []
    body: list[Any] = [loop]
    while True:
        first = body[0] if body else None
        if isinstance(first, ast.For) and len(body) == 1 and not first.orelse:
            generators.append(ast.comprehension(first.target, first.iter, [], 0))
            body = first.body
        elif isinstance(first, ast.If) and len(body) == 1 and not first.orelse and generators:
            generators[-1].ifs.append(first.test)
            body = first.body
        elif isinstance(first, ast.Assign) and len(first.targets) == 1 and generators:
            alone = ast.copy_location(ast.List([first.value], ast.Load()), first)
            generators.append(ast.comprehension(first.targets[0], alone, [], 0))
            body = body[1:]
        elif isinstance(first, Appended) and len(body) == 1:
            return first.element, generators
        elif isinstance(first, ast.Expr) and isinstance(first.value, ast.Yield) and len(body) == 1:
            return first.value.value, generators  # type: ignore[return-value]
        else:
            raise NotFollowedError(f"a comprehension of another form in {op}")


def _parameters(made: MadeFunction) -> ast.arguments:
    """Return the parameters of a function that is made."""
    code = made.code
    positional, varargs, keyword, varkeywords = parameters_of(code)

    def arg(name: str | None) -> Any:
        return None if name is None else ast.arg(name, made.annotations.get(name))

    first = code.co_posonlyargcount
    return ast.arguments(
        [arg(name) for name in positional[:first]],
        [arg(name) for name in positional[first:]],
        arg(varargs),
        [arg(name) for name in keyword],
        [made.keyword_defaults.get(name) for name in keyword],
        arg(varkeywords),
        made.defaults,
    )


def _as_expression(body: list[ast.stmt], op: Instruction) -> ast.expr:
    """Return the value that statements return."""
    first = body[0] if body else None
    if isinstance(first, ast.Return) and first.value is not None:
        return first.value
    if isinstance(first, ast.If):
        yes = _as_expression(first.body, op)
        return ast.copy_location(
            ast.IfExp(first.test, yes, _as_expression(first.orelse or body[1:], op)), first
        )
    raise NotFollowedError(f"a lambda with statements in {op}")


def _declarations(of: Decompiler) -> list[ast.stmt]:
    """Return what says which variables are those of other functions, or of the module."""
    code = of.graph.code
    stored = {
        op.value: op.name for op in of.graph.ops if op.name.startswith(("STORE_", "DELETE_"))
        and isinstance(op.value, str)
    }  # fmt: skip
    outer = sorted(n for n, op in stored.items() if op.endswith("DEREF") and n in code.co_freevars)
    whole = sorted(n for n, op in stored.items() if op.endswith("_GLOBAL"))
    found: list[ast.stmt] = []
    if whole:
        found.append(ast.Global(whole))
    if outer:
        found.append(ast.Nonlocal(outer))
    return found


def _is_class_cell(target: ast.expr) -> bool:
    """Return whether a class keeps what its methods need for `super()`."""
    return isinstance(target, ast.Name) and target.id == "__classcell__"


def _is_literal_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _as_of_class(s: ast.stmt) -> ast.stmt | None:
    """Return a statement as it is written in a class; `None` for what Python puts there."""
    if not isinstance(s, ast.Assign) or len(s.targets) > 1:
        return s
    target = s.targets[0]
    if isinstance(target, ast.Name) and target.id in _NOTED:
        return None
    if (
        isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and target.value.id == "__annotations__"
        and isinstance(target.slice, ast.Constant)
        and isinstance(target.slice.value, str)
    ):
        name = ast.copy_location(ast.Name(target.slice.value, ast.Store()), target)
        return ast.copy_location(ast.AnnAssign(name, s.value, None, 1), s)
    return s
