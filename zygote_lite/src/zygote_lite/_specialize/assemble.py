"""Assemble both passes: choose the gradients to return, run the passes, and write the text."""

import ast
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from zygote_lite._cotangents.kinds import INERT, kind_of
from zygote_lite._specialize.numba.checks import prepare
from zygote_lite._specialize.numba.precompute import compute_early
from zygote_lite._specialize.numba.writer import CompiledWriter
from zygote_lite._specialize.passes.buffer_reuse import SUMS, reuse_memory
from zygote_lite._specialize.passes.dead_code import drop_dead
from zygote_lite._specialize.passes.finiteness import telling
from zygote_lite._specialize.passes.hoist import hoist
from zygote_lite._specialize.passes.residuals import keep_records
from zygote_lite._specialize.passes.scale_factors import gather_factors
from zygote_lite._specialize.passes.signs import take_signs
from zygote_lite._specialize.passes.writes import leave_out_copies, settle_writes
from zygote_lite._specialize.reverse.backward import Backward
from zygote_lite._specialize.reverse.ends import Gradients
from zygote_lite._specialize.rules.contributions import IndexRule, Mirror
from zygote_lite._specialize.rules.scalar import ScalarRule
from zygote_lite._specialize.text.lines import Text
from zygote_lite._specialize.text.typed_writer import TypedWriter
from zygote_lite._specialize.text.writer import Writer
from zygote_lite._specialize.typed.facts import ListOf
from zygote_lite._specialize.typed.inputs import Inputs
from zygote_lite._specialize.typed.nodes import (
    Append,
    Branch,
    Loop,
    Node,
    Op,
    StoreItem,
    assigned_by,
    leaves,
    walk,
)
from zygote_lite._specialize.typed.stand_ins import Local
from zygote_lite._specialize.typed.structures import in_form_of, parts_of
from zygote_lite._specialize.typed.values import Value


@dataclass
class Specialized:
    """The code for one choice of types.

    Attributes:
        text: the code.
        name: of the function in it.
        parameters: the names of the user's parameters, then those of values read from outside.
        bound: objects that the text names.
        inputs: what it reads from outside, and what must be as it was.
        arguments: the abstract values of the user's arguments.
        result: what is known of the value, if it is returned.
        gradients: for each differentiated leaf, its cotangent; `None` if nothing reached it.
        telling: the cotangents that are not finite if any part of the reverse pass was not.
        exact: whether gradients that are not finite are the tape's too.
        structured: whether it has loops or branches, or writes to lists.
        without_none: whether no gradient that it returns is `None`, or may hold one.
        changed: the arrays among the arguments that it changes, whose new contents it returns.
        changed_outside: those from outside, whose new contents it returns after these.
        poles: whether tangents may meet a pole of a rule, of which NumPy would warn.
    """

    text: Text
    name: str
    parameters: list[str]
    bound: dict[str, Any]
    inputs: Inputs
    arguments: list[Value]
    result: Value | None
    gradients: Gradients
    telling: set[Value]
    exact: bool
    structured: bool
    without_none: bool
    changed: list[str]
    changed_outside: list[Value]
    poles: bool = False


def written(
    inputs: Inputs, f: Any, name: str, names: list[str], arguments: list[Value],
    active: tuple[bool, ...], forward: list[Node], backward: Backward, result: Value | None,
    gradients: Gradients, parameter: Value | None = None, compiled: bool = False,
    inner: str = "",
) -> Specialized:  # fmt: skip
    """Write the text of both passes: a function that returns the value (if any), and gradients.

    Where it stands in another one, it reads what that was given from outside, and the reverse pass
    is a function of that name (`inner`), which is given what the first returns with the value.
    """
    builder, reverse = backward.builder, backward.out
    structured = any(isinstance(n, Loop | Branch) or _changes_list(n) for n in walk(forward))
    structured = structured or bool(inputs.functions)
    exact = builder.strong and (not structured or all(map(_keeps_zeros, walk(forward))))
    settle_writes(forward, reverse, backward.memory)
    found = [d for d in gradients.values() if d is not None]
    owned = {copy: x for x, copy in inputs.owned.values()}
    changed = [place for place, x in builder.copies.items() if x not in owned]
    outer = [x for x in builder.copies.values() if x in owned]
    copies = [*(builder.copies[place] for place in changed), *outer]
    results = [*([] if result is None else [result]), *found, *copies]
    outside, later = _run_passes(forward, backward, results, compiled, parameter is not None)
    kind = CompiledWriter if compiled else TypedWriter if inputs.plain else Writer
    writer = kind(builder.name)
    writer.bound |= inputs.named
    writer.count([forward, reverse, later], results)
    more = [] if inner else [value.name for value, _ in inputs.given.values()]
    more += [inputs.effects.name] if inputs.effects is not None and not inner else []
    tops = [
        name if x.items is not None else x.name or name
        for name, x in zip(names, arguments, strict=True)
    ]
    if compiled:  # Numba is given the parts of structures one by one
        tops = [leaf.name for x in arguments for leaf in leaves(x) if leaf.name]
    for called, reason in () if inner else inputs.islands.items():
        writer.line(f"# {called} is recorded: {reason}")
    for called, reason in () if inner else inputs.as_they_are.items():
        writer.line(f"# {called} is called as it is: {reason}")
    writer.line(f"def {name}({', '.join([*tops, *more])}):")
    writer.text.origins[-1] = ast.Pass(lineno=first_line_of(f), col_offset=0)
    writer.depth = 1
    for function in () if inner else inputs.functions:
        writer.lines_of(function.text)
    for top, x in zip(tops, arguments, strict=not compiled):
        if x.items is not None and not compiled:
            writer.line(*_taken_apart(writer, top, x))
    kept = list(dict.fromkeys(x.name for x in outside))
    if inner:
        unset = _set_on_some_paths(forward, kept)
        writer.line(*[f"{' = '.join(unset)} = None"] * bool(unset))
    writer.block(forward)
    values = [] if result is None else [writer.expression(result)]
    if parameter is not None:
        shadows = builder.shadows  # of what a function that calls itself is given
        own = not inner or shadows is None or shadows in builder.definitions
        given_too = [] if own or shadows is None else [shadows.name]
        _begin_pullback(writer, parameter, inner, values, kept, given_too)
    _rename(writer, forward, outside, result)
    if builder.poles and reverse and not compiled:
        writer.line('with np.errstate(all="ignore"):')
        writer.indented(reverse)
    else:
        writer.block(reverse)
    writer.block(later)
    without_none = False
    if isinstance(writer, CompiledWriter) and result is not None:
        values, ends = [], writer.checked(result, found)
    else:
        ends = _ends(writer, arguments, active, gradients, parameter is not None)
        flagged = [x for x, flag in zip(arguments, active, strict=True) if flag]
        without_none = all(_is_without_none(x, gradients) for x in flagged)
    given = ends if parameter is not None else [*values, *ends, *map(writer.expression, copies)]
    writer.line(f"return {', '.join(given)}")
    if parameter is not None and not inner:
        writer.depth = 1
        writer.line("", f"return {values[0]}, back")
    return Specialized(
        writer.text, name, [*tops, *more], writer.bound, inputs, arguments, result, gradients,
        {*found} if inputs.functions else telling(reverse, found), exact, structured, without_none,
        changed, [owned[x] for x in outer],
    )  # fmt: skip


def _run_passes(
    forward: list[Node], backward: Backward, results: list[Value], compiled: bool, is_pullback: bool
) -> tuple[list[Value], list[Node]]:
    """Run the passes over both directions, in their order.

    Returns what the reverse pass reads, and what is left for after it.
    """
    builder, reverse = backward.builder, backward.out
    if builder.inputs.plain:
        return keep_records(forward, reverse, builder.name, backward.silent), []
    drop_dead(forward, reverse, results)
    leave_out_copies(forward, reverse, results)
    if not (compiled or builder.strong):
        gather_factors(builder, forward, reverse, results)
        take_signs(builder, reverse, results)
    if compiled:
        compute_early(reverse)
    else:
        hoist(forward)
    outside = keep_records(forward, reverse, builder.name, backward.silent)
    if compiled:
        prepare([*forward, *reverse])
    if compiled or is_pullback:  # a pullback may be called again
        return outside, []
    return outside, reuse_memory(forward, reverse, results)


def _begin_pullback(
    writer: Writer, parameter: Value, inner: str, values: list[str], kept: list[str],
    more: list[str],
) -> None:  # fmt: skip
    """Write the first lines of the pullback: a closure, or the function `inner` beside the first.

    The closure reads the residuals (`kept`) from the function around it; `inner` is given them,
    and `more`.
    """
    if inner:
        those = f"({', '.join(kept)}{',' * (len(kept) == 1)})"
        residuals = writer.namer("kept")
        writer.line(f"return {values[0]}, {those}")
        writer.depth = 0
        given = ", ".join([residuals, parameter.name, *more])
        writer.line("", f"def {inner}({given}):")
        writer.depth = 1
        writer.line(f"{those} = {residuals}")
        return
    writer.line("", f"def back({parameter.name}):")
    writer.depth = 2
    if parameter.items is not None:
        writer.line(*_taken_apart(writer, parameter.name, parameter))


def _set_on_some_paths(forward: list[Node], names: list[str]) -> list[str]:
    """Return those of some names that stand for variables which may have no value at the end."""
    always = {x.name for node in forward if isinstance(node, Op) for x in assigned_by(node)}
    once = {x.name for node in walk(forward) for x in assigned_by(node)}
    once |= {n.tape.name for n in walk(forward) if isinstance(n, Loop) and n.tape is not None}
    return [name for name in names if name in once - always]


def first_line_of(f: Any) -> int:
    """Return the number of the first line of a function, or of one that is defined inside."""
    code = f.code if isinstance(f, Local) else f.__code__
    return int(code.co_firstlineno)


def _taken_apart(writer: Writer, name: str, x: Value) -> list[str]:
    """Return the lines that give the parts of an argument their names."""
    later: list[str] = []

    def pattern(x: Value, top: bool = False) -> str:
        if x.items is None:
            return x.name or "_"
        if type(x.sample) is dict and not top:  # its values are taken in a line of their own
            inner = writer.namer(f"{name}_part")
            later.extend(_taken_apart(writer, inner, x))
            return inner
        parts = [pattern(part) for _, part in parts_of(x)]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    values = f"{name}.values()" if type(x.sample) is dict else name
    return [f"{pattern(x, top=True)} = {values}", *later]


def _changes_list(node: Node) -> bool:
    if isinstance(node, Op):
        return isinstance(node.reverse_rule, Mirror)
    return isinstance(node, Append | StoreItem) and isinstance(node.array.fact, ListOf)


def _keeps_zeros(node: Node) -> bool:
    """Return whether the reverse of a node maps a zero cotangent to zeros, always.

    Where a branch decides, the tape has none at all there.
    """
    if _changes_list(node):
        return False
    if not isinstance(node, Op) or isinstance(node.reverse_rule, ScalarRule | IndexRule | None):
        return True
    return isinstance(node.function, Hashable) and node.function in SUMS


def _rename(writer: Writer, forward: Any, outside: list[Value], result: Value | None) -> None:
    """Rename, in the reverse pass, residuals of an iteration that have a later namesake."""
    names = {x.name for x in outside}
    names |= {leaf.name for leaf in leaves(result)} if result is not None else set()
    for node in walk(forward):
        if isinstance(node, Loop):
            for x in node.record:
                if x.name in names:
                    writer.renamed[x] = writer.namer(x.name)


def _is_without_none(x: Value, gradients: Gradients) -> bool:
    """Return whether a gradient has no `None` where there may be a number, nor a list."""
    if x.read is not None:
        fields = vars(x.sample)
        parts = [x.read.get(name) for name, field in fields.items() if kind_of(field) != INERT]
        return bool(parts) and all(
            part is not None and _is_without_none(part, gradients) for part in parts
        )
    if x.fields is not None:
        return bool(x.fields) and all(
            _is_without_none(part, gradients) for part in x.fields.values()
        )
    if x.items is not None:
        return bool(x.items) and all(_is_without_none(part, gradients) for _, part in parts_of(x))
    return gradients.get(x) is not None and not isinstance(x.fact, ListOf)


def _ends(
    writer: Writer, arguments: list[Value], active: tuple[bool, ...],
    gradients: Gradients, as_pullback: bool,
) -> list[str]:  # fmt: skip
    """Return the texts of the gradients, one for each argument that is differentiated."""

    def text(x: Value) -> str:
        d = gradients.get(x)
        return "None" if d is None else writer.expression(d)

    given = zip(arguments, active, strict=True)
    if as_pullback:  # the first is of the function itself
        return [
            "None",
            *(in_form_of(x, text, writer.bind) if flag else "None" for x, flag in given),
        ]
    return [in_form_of(x, text, writer.bind) for x, flag in given if flag]
