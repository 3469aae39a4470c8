"""Instructions that change the stack alone: each takes expressions from it and puts one there."""

import ast
from types import CodeType
from typing import Any, NoReturn

from zygote_lite._ir.decompile.graph import Graph
from zygote_lite._ir.decompile.instructions import Instruction, NotFollowedError
from zygote_lite._ir.decompile.values import (
    BuildClass,
    Choices,
    MadeFunction,
    Mark,
    Null,
    Progress,
    Raised,
    Saved,
    SharedValue,
)
from zygote_lite._ir.operators import BINARY, COMPARISONS

_UNARY = {
    "UNARY_NEGATIVE": ast.USub, "UNARY_NOT": ast.Not, "UNARY_INVERT": ast.Invert,
    "UNARY_POSITIVE": ast.UAdd, "INTRINSIC_UNARY_POSITIVE": ast.UAdd,
}  # fmt: skip
_BINARY_OF = {of.symbol: of.syntax for of in BINARY.values()}
_COMPARISONS_OF = {of.symbol: of.syntax for of in COMPARISONS}
_MARKS: dict[str, type[Mark]] = {
    "PUSH_NULL": Null, "LOAD_LOCALS": Null, "LOAD_FAST_AND_CLEAR": Saved,
    "LOAD_BUILD_CLASS": BuildClass, "LOAD_ASSERTION_ERROR": Raised,
}  # fmt: skip
_CONVERSIONS = (-1, ord("s"), ord("r"), ord("a"))


class StackExpressions:
    """What instructions without side effects on variables do to the stack.

    Attributes:
        graph: the control flow.
        choices: what is guessed, in all code of the function.
        count: how many expressions there are so far.
    """

    def __init__(self, graph: Graph, choices: Choices) -> None:
        self.graph = graph
        self.choices = choices
        self.count = 0

    def refuse(self, op: Instruction, what: str | None = None) -> NoReturn:
        raise NotFollowedError(f"{what or f'the instruction {op.name}'} in {op}")

    def place(self, node: Any, op: Instruction) -> Any:
        """Return a syntax tree that stands where an instruction does."""
        line, end_line, column, end_column = op.position
        node.lineno = line or self.graph.code.co_firstlineno
        node.end_lineno = end_line or node.lineno
        node.col_offset, node.end_col_offset = column or 0, end_column or 0
        return node

    def push(self, s: Progress, node: ast.expr, op: Instruction) -> None:
        self.count += 1
        node.made = self.count  # type: ignore[attr-defined]
        s.stack.append(self.place(node, op))

    def plain(self, value: Any, op: Instruction) -> ast.expr:
        """Return an expression for what stands on the stack."""
        if isinstance(value, SharedValue):
            found = self.plain(value.value, op)
            for target in value.targets:
                if not isinstance(target, ast.Name):
                    self.refuse(op, "an assignment inside an expression")
                found = self.place(ast.NamedExpr(target, found), op)
            return found
        if (
            isinstance(value, MadeFunction)
            and value.bases is None
            and value.code.co_name == "<lambda>"
        ):
            lambda_: ast.expr = self.function(value, op)
            return lambda_
        if isinstance(value, ast.expr) and not hasattr(value, "in_place"):
            return value
        if isinstance(value, MadeFunction):
            self.refuse(op, f"the use of {value.code.co_name}")
        self.refuse(op, f"an expression of another form, for {op.name},")

    def pop(self, s: Progress, op: Instruction) -> ast.expr:
        return self.plain(s.stack.pop(), op)

    def popped(self, s: Progress, count: int, op: Instruction) -> list[ast.expr]:
        first = len(s.stack) - count
        found = [self.plain(x, op) for x in s.stack[first:]]
        del s.stack[first:]
        return found

    def function(self, made: MadeFunction, op: Instruction) -> Any:
        """Return the definition of a function that is made, or a lambda."""
        raise NotImplementedError

    def step(self, op: Instruction, s: Progress) -> None:
        """Do what an instruction does that has one successor."""
        self.choices.read(op)
        method = getattr(self, f"op_{op.name.lower()}", None)
        if method is None:
            self.refuse(op)
        method(op, s)
        s.at = op.following[0] if op.following and s.at is not None else None

    # -- what is put on the stack --------------------------------------------------------------

    def op_load_fast(self, op: Instruction, s: Progress) -> None:
        self.push(s, ast.Name(op.value, ast.Load()), op)

    op_load_global = op_load_deref = op_load_name = op_load_closure = op_load_fast
    op_load_classderef = op_load_fast

    def op_load_from_dict_or_deref(self, op: Instruction, s: Progress) -> None:
        s.stack.pop()
        self.op_load_fast(op, s)

    op_load_from_dict_or_globals = op_load_from_dict_or_deref

    def op_make_cell(self, op: Instruction, s: Progress) -> None:
        pass

    def op_load_const(self, op: Instruction, s: Progress) -> None:
        if isinstance(op.value, CodeType):
            s.stack.append(op.value)
        else:
            self.push(s, self.constant(op.value, op), op)

    def constant(self, value: Any, op: Instruction) -> ast.expr:
        """Return a constant as it is written."""
        if isinstance(value, tuple | frozenset):
            parts = [self.constant(x, op) for x in value]
            made = ast.Tuple(parts, ast.Load()) if isinstance(value, tuple) else ast.Set(parts)
            return self.place(made, op)  # type: ignore[no-any-return]
        if isinstance(value, int | float) and str(value).startswith("-"):
            positive = self.place(ast.Constant(-value), op)
            return self.place(ast.UnaryOp(ast.USub(), positive), op)  # type: ignore[no-any-return]
        return self.place(ast.Constant(value), op)  # type: ignore[no-any-return]

    def op_push_null(self, op: Instruction, s: Progress) -> None:
        s.stack.append(_MARKS[op.name]())

    op_load_locals = op_load_fast_and_clear = op_load_build_class = op_push_null
    op_load_assertion_error = op_push_null

    def op_copy(self, op: Instruction, s: Progress) -> None:
        s.stack.append(s.stack[-op.value])

    def op_swap(self, op: Instruction, s: Progress) -> None:
        s.stack[-op.value], s.stack[-1] = s.stack[-1], s.stack[-op.value]

    # -- operators -----------------------------------------------------------------------------

    def op_unary_negative(self, op: Instruction, s: Progress) -> None:
        value = self.pop(s, op)
        self.push(s, ast.UnaryOp(_UNARY[op.value or op.name](), value), op)

    op_unary_not = op_unary_invert = op_unary_positive = op_unary_negative

    def op_call_intrinsic_1(self, op: Instruction, s: Progress) -> None:
        if op.value in _UNARY:
            self.op_unary_negative(op, s)
        elif op.value == "INTRINSIC_LIST_TO_TUPLE":
            self.op_list_to_tuple(op, s)
        else:
            self.refuse(op)

    def op_binary_op(self, op: Instruction, s: Progress) -> None:
        left, right = self.popped(s, 2, op)
        syntax: Any = _BINARY_OF[op.value.removesuffix("=")]
        made = ast.BinOp(left, syntax(), right)
        if op.value.endswith("="):
            made.in_place = True  # type: ignore[attr-defined]
        self.push(s, made, op)

    def op_compare_op(self, op: Instruction, s: Progress) -> None:
        self.compare(op, s, _COMPARISONS_OF[op.value])

    def op_is_op(self, op: Instruction, s: Progress) -> None:
        self.compare(op, s, ast.IsNot if op.value else ast.Is)

    def op_contains_op(self, op: Instruction, s: Progress) -> None:
        self.compare(op, s, ast.NotIn if op.value else ast.In)

    def compare(self, op: Instruction, s: Progress, syntax: Any) -> None:
        left, right = self.popped(s, 2, op)
        self.push(s, ast.Compare(left, [syntax()], [right]), op)

    # -- parts ---------------------------------------------------------------------------------

    def op_load_attr(self, op: Instruction, s: Progress) -> None:
        self.push(s, ast.Attribute(self.pop(s, op), op.value, ast.Load()), op)

    def op_load_method(self, op: Instruction, s: Progress) -> None:
        self.op_load_attr(op, s)
        s.stack[-1].is_method = True
        s.stack.append(Null())

    def op_load_super_attr(self, op: Instruction, s: Progress) -> None:
        name, flags = op.value
        found, cls, own = self.popped(s, 3, op)
        call = self.place(ast.Call(found, [cls, own] if flags & 2 else [], []), op)
        self.push(s, ast.Attribute(call, name, ast.Load()), op)
        if flags & 1:
            s.stack.append(Null())

    def op_binary_subscr(self, op: Instruction, s: Progress) -> None:
        value, index = self.popped(s, 2, op)
        self.push(s, ast.Subscript(value, index, ast.Load()), op)

    def op_binary_slice(self, op: Instruction, s: Progress) -> None:
        self.op_build_slice(op, s, 2)
        self.op_binary_subscr(op, s)

    def op_build_slice(self, op: Instruction, s: Progress, count: int = 0) -> None:
        parts: list[ast.expr | None] = [*self.popped(s, count or op.value, op)]
        for i, part in enumerate(parts):
            if isinstance(part, ast.Constant) and part.value is None and i < 2:
                parts[i] = None
        self.push(s, ast.Slice(*parts), op)

    # -- displays ------------------------------------------------------------------------------

    def op_build_tuple(self, op: Instruction, s: Progress) -> None:
        self.push(s, ast.Tuple(self.popped(s, op.value, op), ast.Load()), op)

    def op_build_list(self, op: Instruction, s: Progress) -> None:
        self.push(s, ast.List(self.popped(s, op.value, op), ast.Load()), op)

    def op_build_set(self, op: Instruction, s: Progress) -> None:
        self.push(s, ast.Set(self.popped(s, op.value, op)), op)

    def op_build_map(self, op: Instruction, s: Progress) -> None:
        parts = self.popped(s, 2 * op.value, op)
        keys: list[ast.expr | None] = [*parts[::2]]
        self.push(s, ast.Dict(keys, parts[1::2]), op)

    def op_build_const_key_map(self, op: Instruction, s: Progress) -> None:
        *values, keys = self.popped(s, op.value + 1, op)
        self.push(s, ast.Dict([*keys.elts], values), op)  # type: ignore[attr-defined]

    def op_list_extend(self, op: Instruction, s: Progress) -> None:
        value = self.pop(s, op)
        display = s.stack[-op.value]
        if not isinstance(display, ast.List | ast.Set):
            self.refuse(op)
        if _is_folded(value) and not display.elts:
            display.elts += value.elts  # type: ignore[attr-defined]
        else:
            display.elts.append(self.place(ast.Starred(value, ast.Load()), op))

    op_set_update = op_list_extend

    def op_list_to_tuple(self, op: Instruction, s: Progress) -> None:
        value = self.pop(s, op)
        if not isinstance(value, ast.List):
            self.refuse(op)
        self.push(s, ast.Tuple(value.elts, ast.Load()), op)

    def op_dict_update(self, op: Instruction, s: Progress) -> None:
        value = self.pop(s, op)
        display = s.stack[-op.value]
        if not isinstance(display, ast.Dict):
            self.refuse(op)
        is_named = op.name == "DICT_MERGE" and display.keys and display.keys[-1] is None
        if isinstance(value, ast.Dict) and is_named:  # names after `**`
            display.keys += value.keys
            display.values += value.values
        else:
            display.keys.append(None)
            display.values.append(value)

    op_dict_merge = op_dict_update

    # -- texts ---------------------------------------------------------------------------------

    def op_format_value(self, op: Instruction, s: Progress) -> None:
        spec = self.pop(s, op) if op.value & 4 else None
        self.format(op, s, self.pop(s, op), _CONVERSIONS[op.value & 3], spec)

    def op_convert_value(self, op: Instruction, s: Progress) -> None:
        value = ast.FormattedValue(self.pop(s, op), _CONVERSIONS[op.value], None)
        self.push(s, value, op)

    def op_format_simple(self, op: Instruction, s: Progress, spec: ast.expr | None = None) -> None:
        value = self.pop(s, op)
        if isinstance(value, ast.FormattedValue):
            self.format(op, s, value.value, value.conversion, spec)
        else:
            self.format(op, s, value, -1, spec)

    def op_format_with_spec(self, op: Instruction, s: Progress) -> None:
        self.op_format_simple(op, s, self.pop(s, op))

    def format(
        self, op: Instruction, s: Progress, value: ast.expr, conversion: int, spec: ast.expr | None
    ) -> None:
        if isinstance(spec, ast.Constant):
            spec = self.place(ast.JoinedStr([spec]), op)
        part = self.place(ast.FormattedValue(value, conversion, spec), op)
        self.push(s, ast.JoinedStr([part]), op)

    def op_build_string(self, op: Instruction, s: Progress) -> None:
        parts = self.popped(s, op.value, op)
        values = [v for x in parts for v in (x.values if isinstance(x, ast.JoinedStr) else [x])]
        self.push(s, ast.JoinedStr(values), op)


def _is_folded(value: ast.expr) -> bool:
    """Return whether an expression is a display of constants, so many that the compiler folds."""
    return (
        isinstance(value, ast.Tuple | ast.Set)
        and len(value.elts) > 2
        and all(isinstance(x, ast.Constant | ast.UnaryOp | ast.Tuple) for x in value.elts)
    )


def is_marked(value: Any) -> bool:
    """Return whether an entry of the stack is anything but the value of an expression."""
    return isinstance(value, Mark | CodeType) and not isinstance(value, SharedValue | MadeFunction)
