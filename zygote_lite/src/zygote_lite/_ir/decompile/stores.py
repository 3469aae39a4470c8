"""Statements that take the last expression from the stack."""

import ast
from typing import Any

from zygote_lite._ir.decompile.conditions import Conditions
from zygote_lite._ir.decompile.expressions import is_marked
from zygote_lite._ir.decompile.instructions import Instruction
from zygote_lite._ir.decompile.values import (
    Group,
    Imported,
    MadeFunction,
    Progress,
    Raised,
    Saved,
    SharedValue,
    TargetSlot,
    appended,
)


class Stores(Conditions):
    """Assignments, and other statements without control flow."""

    def say(self, s: Progress, statement: ast.stmt, op: Instruction) -> None:
        s.out.append(self.place(statement, op))

    def op_store_fast(self, op: Instruction, s: Progress) -> None:
        self.store(s, ast.Name(op.value, ast.Store()), op)

    op_store_deref = op_store_global = op_store_name = op_store_fast

    def op_store_attr(self, op: Instruction, s: Progress) -> None:
        self.store(s, ast.Attribute(self.pop(s, op), op.value, ast.Store()), op)

    def op_store_subscr(self, op: Instruction, s: Progress) -> None:
        value, index = self.popped(s, 2, op)
        self.store(s, ast.Subscript(value, index, ast.Store()), op)

    def op_store_slice(self, op: Instruction, s: Progress) -> None:
        self.op_build_slice(op, s, 2)
        self.op_store_subscr(op, s)

    def store(self, s: Progress, target: Any, op: Instruction) -> None:
        """Give a target the value on top of the stack."""
        self.place(target, op)
        value = s.stack.pop()
        if isinstance(value, Saved):
            return
        if isinstance(value, TargetSlot):
            value.give(target)
        elif s.stack and s.stack[-1] is value:
            self.several(s).targets.append(target)
        elif any(not is_marked(x) for x in s.stack[s.base :]):
            self.at_once(s, value, op).give(target)
        else:
            self.assign(s, target, value, op)

    def several(self, s: Progress) -> SharedValue:
        """Return the top of the stack as a value of several targets."""
        if not isinstance(s.stack[-1], SharedValue):
            s.stack[-1] = SharedValue(s.stack[-1])
        return s.stack[-1]  # type: ignore[no-any-return]

    def at_once(self, s: Progress, value: Any, op: Instruction) -> TargetSlot:
        """Let all expressions on the stack be assigned by one statement; return the last's slot."""
        places = [i for i in range(s.base, len(s.stack)) if not is_marked(s.stack[i])]
        values = [*(self.plain(s.stack[i], op) for i in places), self.plain(value, op)]
        order = sorted(range(len(values)), key=lambda i: getattr(values[i], "made", 0))
        whole = self.place(ast.Tuple([values[i] for i in order], ast.Load()), op)
        group = self.group(s, len(values), whole, op)
        slots = [TargetSlot(_giving(group, order.index(i))) for i in range(len(values))]
        for i, slot in zip(places, slots, strict=False):
            s.stack[i] = slot
        return slots[-1]

    def group(
        self, s: Progress, count: int, value: Any, op: Instruction, star: Any = None
    ) -> Group:
        """Return a group of targets that are given a value together."""
        if isinstance(value, TargetSlot):
            done = value.give
        elif s.stack and s.stack[-1] is value:
            done = self.several(s).targets.append
        else:

            def done(target: ast.expr) -> None:
                self.assign(s, self.place(target, op), value, op)

        return Group([None] * count, lambda t: done(self.place(t, op)), star)

    def op_unpack_sequence(self, op: Instruction, s: Progress, star: int | None = None) -> None:
        count = op.value if star is None else op.value[0] + 1 + op.value[1]
        value = s.stack.pop()
        is_shared = isinstance(value, TargetSlot) or (s.stack and s.stack[-1] is value)
        if not is_shared and any(not is_marked(x) for x in s.stack[s.base :]):
            value = self.at_once(s, value, op)
        group = self.group(s, count, value, op, star)
        s.stack += [TargetSlot(_giving(group, i)) for i in reversed(range(count))]
        group.check()

    def op_unpack_ex(self, op: Instruction, s: Progress) -> None:
        op.value = op.value if isinstance(op.value, tuple) else (op.value & 255, op.value >> 8)
        self.op_unpack_sequence(op, s, op.value[0])

    def assign(self, s: Progress, target: ast.expr, value: Any, op: Instruction) -> None:
        targets = [target]
        if isinstance(value, SharedValue):
            targets = [*value.targets, target]
            value = value.value
        if isinstance(value, Imported):
            self.imported(s, target, value, op)
        elif (
            isinstance(value, MadeFunction)
            and len(targets) == 1
            and value.code.co_name != "<lambda>"
        ):
            definition = self.function(value, op)
            if not isinstance(target, ast.Name) or target.id != definition.name:
                self.refuse(op, f"another name for the function {definition.name}")
            s.out.append(definition)
        elif getattr(value, "in_place", False):
            self.say(s, ast.AugAssign(target, value.op, value.right), op)  # type: ignore[arg-type]
        else:
            self.say(s, ast.Assign(targets, self.plain(value, op)), op)

    def imported(self, s: Progress, target: Any, value: Imported, op: Instruction) -> None:
        other = None if target.id == value.module else target.id
        if value.of is None:
            head = value.module.partition(".")[0]
            alias = ast.alias(value.module, None if target.id == head else other)
            self.say(s, ast.Import([self.place(alias, op)]), op)
        elif value.of.listed is None:
            alias = ast.alias(value.of.module, target.id)
            self.say(s, ast.Import([self.place(alias, op)]), op)
        else:
            value.of.names.append(self.place(ast.alias(value.module, other), op))

    def op_pop_top(self, op: Instruction, s: Progress) -> None:
        value = s.stack.pop()
        if isinstance(value, Imported):
            if value.names:
                self.say(s, ast.ImportFrom(value.module, value.names, value.level), op)
        elif isinstance(value, SharedValue) or not is_marked(value):
            self.say(s, ast.Expr(self.plain(value, op)), op)

    def op_delete_fast(self, op: Instruction, s: Progress) -> None:
        self.say(s, ast.Delete([self.place(ast.Name(op.value, ast.Del()), op)]), op)

    op_delete_deref = op_delete_name = op_delete_global = op_delete_fast

    def op_delete_attr(self, op: Instruction, s: Progress) -> None:
        target = ast.Attribute(self.pop(s, op), op.value, ast.Del())
        self.say(s, ast.Delete([self.place(target, op)]), op)

    def op_delete_subscr(self, op: Instruction, s: Progress) -> None:
        value, index = self.popped(s, 2, op)
        target = self.place(ast.Subscript(value, index, ast.Del()), op)
        self.say(s, ast.Delete([target]), op)

    def op_list_append(self, op: Instruction, s: Progress) -> None:
        value = self.pop(s, op)
        if op.value > 1:
            self.say(s, appended(value), op)
        else:
            s.stack[-1].elts.append(value)

    op_set_add = op_list_append

    def op_map_add(self, op: Instruction, s: Progress) -> None:
        key, value = self.popped(s, 2, op)
        if op.value > 1:
            self.say(s, appended(ast.Tuple([key, value], ast.Load())), op)
        else:
            s.stack[-1].keys.append(key)
            s.stack[-1].values.append(value)

    def op_return_value(self, op: Instruction, s: Progress) -> None:
        value = s.stack.pop()
        if not isinstance(value, SharedValue | MadeFunction) and is_marked(value):
            self.refuse(op)
        self.say(s, ast.Return(self.plain(value, op)), op)
        s.at = None

    def op_raise_varargs(self, op: Instruction, s: Progress) -> None:
        cause = self.pop(s, op) if op.value == 2 else None
        raised = s.stack.pop() if op.value else None
        if isinstance(raised, Raised):
            never = self.place(ast.Constant(False), op)
            self.say(s, ast.Assert(never, next(iter(raised.arguments), None)), op)
        else:
            self.say(s, ast.Raise(raised and self.plain(raised, op), cause), op)
        s.at = None


def _giving(group: Group, index: int) -> Any:
    return lambda target: group.give(index, target)
