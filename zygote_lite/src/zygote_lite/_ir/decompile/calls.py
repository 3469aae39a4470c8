"""Calls, functions that are made, iterators and imports."""

import ast
from typing import Any

from zygote_lite._ir.decompile.expressions import StackExpressions
from zygote_lite._ir.decompile.instructions import Instruction
from zygote_lite._ir.decompile.values import (
    BuildClass,
    Imported,
    Left,
    MadeFunction,
    Manager,
    Null,
    Progress,
    Raised,
    Walked,
)

_DEFAULTS, _KEYWORD_DEFAULTS, _ANNOTATIONS, _CLOSURE = 1, 2, 4, 8


class Calls(StackExpressions):
    """What calls do to the stack, and what makes functions and iterators."""

    def comprehension(self, made: MadeFunction, walked: Walked, op: Instruction) -> ast.expr:
        """Return what a function that is a comprehension makes of an iterable."""
        raise NotImplementedError

    # -- calls ---------------------------------------------------------------------------------

    def op_kw_names(self, op: Instruction, s: Progress) -> None:
        s.keywords = op.value

    def op_call_kw(self, op: Instruction, s: Progress) -> None:
        names = s.stack.pop()
        s.keywords = tuple(x.value for x in names.elts)
        self.op_call(op, s)

    def op_call(self, op: Instruction, s: Progress) -> None:
        names, s.keywords = s.keywords, ()
        first = len(s.stack) - op.value
        given = s.stack[first:]
        x, y = s.stack[first - 2 : first]
        del s.stack[first - 2 :]
        if isinstance(x, Null) or isinstance(y, Null):
            function = x if isinstance(y, Null) else y
            if isinstance(function, ast.Attribute) and not hasattr(function, "is_method"):
                self.choices.modules.update(
                    n.id for n in [function.value] if isinstance(n, ast.Name)
                )
        else:
            function, given = x, [y, *given]
        if isinstance(function, Manager):
            s.stack.append(Left())
        elif isinstance(function, MadeFunction) and given and isinstance(given[0], Walked):
            self.push(s, self.comprehension(function, given[0], op), op)
        elif _is_decorated(function, given) and not names:
            given[0].decorators.insert(0, self.plain(function, op))
            s.stack.append(given[0])
        else:
            self.called(op, s, function, given, names)

    def called(
        self, op: Instruction, s: Progress, function: Any, given: list[Any], names: tuple[str, ...]
    ) -> None:
        count = len(given) - len(names)
        if isinstance(function, BuildClass):
            body, given, count = given[0], given[2:], count - 2
        found = [self.plain(x, op) for x in given]
        keywords = [
            self.place(ast.keyword(name, value), op)
            for name, value in zip(names, found[count:], strict=True)
        ]
        if isinstance(function, BuildClass):
            body.bases, body.keywords = found[:count], keywords
            s.stack.append(body)
        elif isinstance(function, Raised):
            s.stack.append(Raised(found))
        else:
            self.push(s, ast.Call(self.plain(function, op), found[:count], keywords), op)

    def op_call_function_ex(self, op: Instruction, s: Progress) -> None:
        named = self.pop(s, op) if op.value & 1 else None
        given = self.pop(s, op)
        x, y = s.stack.pop(-2), s.stack.pop()
        function = y if isinstance(x, Null) else x
        star = ast.Starred(given, ast.Load())
        is_display = isinstance(given, ast.Tuple)
        arguments = given.elts if is_display else [self.place(star, op)]  # type: ignore[attr-defined]
        if named is not None and not isinstance(named, ast.Dict):
            self.refuse(op)
        keywords = [] if named is None else [
            self.place(ast.keyword(None if key is None else key.value, value), op)  # type: ignore[attr-defined]
            for key, value in zip(named.keys, named.values, strict=True)
        ]  # fmt: skip
        if isinstance(function, BuildClass):
            self.refuse(op, "a class with `*` or `**`")
        self.push(s, ast.Call(self.plain(function, op), arguments, keywords), op)

    # -- functions and iterators ---------------------------------------------------------------

    def op_make_function(self, op: Instruction, s: Progress) -> None:
        made = MadeFunction(s.stack.pop())
        for flag in (_CLOSURE, _ANNOTATIONS, _KEYWORD_DEFAULTS, _DEFAULTS):
            if (op.value or 0) & flag:
                self.give(made, flag, s.stack.pop(), op)
        s.stack.append(made)

    def op_set_function_attribute(self, op: Instruction, s: Progress) -> None:
        made = s.stack.pop()
        self.give(made, op.value, s.stack.pop(), op)
        s.stack.append(made)

    def give(self, made: MadeFunction, flag: int, value: Any, op: Instruction) -> None:
        """Note one of the things that a function is made with."""
        if flag == _DEFAULTS:
            made.defaults = value.elts
        elif flag == _KEYWORD_DEFAULTS:
            made.keyword_defaults = {
                k.value: v for k, v in zip(value.keys, value.values, strict=True)
            }
        elif flag == _ANNOTATIONS:
            names, values = value.elts[::2], value.elts[1::2]
            made.annotations = {k.value: v for k, v in zip(names, values, strict=True)}

    def op_get_iter(self, op: Instruction, s: Progress) -> None:
        s.stack.append(Walked(self.pop(s, op)))

    def op_yield_value(self, op: Instruction, s: Progress) -> None:
        self.push(s, ast.Yield(self.pop(s, op)), op)

    def op_get_yield_from_iter(self, op: Instruction, s: Progress) -> None:
        self.push(s, ast.YieldFrom(self.pop(s, op)), op)

    def op_send(self, op: Instruction, s: Progress) -> None:
        if len(s.stack) < 2 or not isinstance(s.stack[-2], ast.YieldFrom):
            self.refuse(op)
        goal = op.following[1]
        if self.graph.depths[goal] < len(s.stack):
            s.stack.pop()
        op.following = [goal, goal]  # what is sent in goes on there

    def op_end_send(self, op: Instruction, s: Progress) -> None:
        s.stack.pop()

    # -- imports -------------------------------------------------------------------------------

    def op_import_name(self, op: Instruction, s: Progress) -> None:
        level, listed = s.stack.pop(-2), s.stack.pop()
        names = None if isinstance(listed, ast.Constant) else tuple(x.value for x in listed.elts)
        s.stack.append(Imported(op.value, level.value, names))

    def op_import_from(self, op: Instruction, s: Progress) -> None:
        s.stack.append(Imported(op.value, 0, None, of=s.stack[-1]))


def _is_decorated(function: Any, given: list[Any]) -> bool:
    """Return whether a call is that of a decorator."""
    if len(given) != 1 or isinstance(function, BuildClass):
        return False
    return isinstance(given[0], MadeFunction) and not given[0].is_lambda
