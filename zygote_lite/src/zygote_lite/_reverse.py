"""Fourth stage: the adjoint, derived from the forward code statement by statement, backwards."""

import ast
from dataclasses import replace

from zygote_lite import _ir as ir
from zygote_lite._primal import Primal

NOTHING = ir.Const(None)


def reverse(p: Primal) -> ir.Function:
    """Return the forward code together with its adjoint.

    The function returns its value, `back` and the flag of the value. `back` maps the cotangent
    of the value to a tuple of those of the captured variables and the parameters.
    """
    function = p.function
    end = function.body[-1].origin
    cotangents: dict[str, str] = {}
    body: list[ir.Statement] = []
    names = _Names(function, cotangents)
    parameter = function.fresh("d_" + (p.result.id if isinstance(p.result, ir.Name) else "result"))
    if isinstance(p.result, ir.Name):
        cotangents[p.result.id] = parameter
    for s in reversed(p.body):
        match s:
            case ir.Pull():
                body += _pull_back(s, names)
            case ir.Move(origin, target, source):
                given = cotangents.pop(target, None)
                if given is not None and isinstance(source, ir.Name):
                    body += names.add(origin, source.id, given)
    inputs = [*function.captured, *function.names]
    outputs: list[ir.Atom] = [
        ir.Name(cotangents[name]) if name in cotangents else NOTHING for name in inputs
    ]
    body.append(ir.ReturnTuple(end, outputs))
    back = function.fresh("back")
    adjoint = ir.Adjoint(end, back, parameter, body)
    result = ir.ReturnTuple(end, [p.result, ir.Name(back), p.flag])
    return replace(function, body=[*p.body, adjoint, result])


class _Names:
    """The cotangents at hand at one point of the adjoint."""

    def __init__(self, function: ir.Function, cotangents: dict[str, str]) -> None:
        self.function = function
        self.cotangents = cotangents

    def new(self, variable: str) -> str:
        return self.function.fresh("d_" + variable)

    def add(self, origin: ast.AST, variable: str, given: str) -> list[ir.Statement]:
        """Add the cotangent `given` to that of `variable`; the first one is an assignment."""
        known = self.cotangents.get(variable)
        if known is None:
            self.cotangents[variable] = given
            return []
        total = [ir.Name(known), ir.Name(given)]
        return [ir.Call(origin, known, ir.Intrinsic("accumulate"), list(total))]


def _pull_back(s: ir.Pull, names: _Names) -> list[ir.Statement]:
    """Return the statements that pull the cotangent of one call back to its operands."""
    given = names.cotangents.pop(s.target, None)
    operands = [s.function, *s.arguments, *(value for _, value in s.keywords)]
    targets: list[str | None] = []
    sums: list[tuple[str, str]] = []
    for operand, flag in zip(operands, s.flags, strict=True):
        if not isinstance(operand, ir.Name) or flag == NOTHING:
            targets.append(None)
            continue
        target = names.new(operand.id)
        targets.append(target)
        sums.append((operand.id, target))
    cotangent = NOTHING if given is None else ir.Name(given)
    out: list[ir.Statement] = [ir.PullBack(s.origin, targets, s.back, cotangent)]
    for variable, target in sums:
        out += names.add(s.origin, variable, target)
    return out
