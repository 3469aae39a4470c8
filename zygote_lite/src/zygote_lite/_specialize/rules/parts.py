"""Rules of functions that give several arrays or numbers, such as `divmod` or `np.linalg.eigh`."""

import operator
from typing import Any

from zygote_lite._specialize.rules.contributions import Contribution, Mirror
from zygote_lite._specialize.rules.pullback import CalledPullback
from zygote_lite._specialize.typed.abstract_eval import shares_memory
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Scalar, can_carry
from zygote_lite._specialize.typed.nodes import Op
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.runtime import has_length
from zygote_lite._specialize.typed.structures import named_tuple, structure
from zygote_lite._specialize.typed.values import Value, constant


def parts_of_rule(builder: Builder, both: Value, xs: list[Value], operands: list[Value]) -> Value:
    """Write the parts of the value of a rule that was called; return the structure of these.

    Arguments:
        builder: what writes the code.
        both: the value of the rule, and its pullback.
        xs: the operands of the call.
        operands: those that the rule was given, some of them copies.
    """
    whole = builder.operation(operator.getitem, [both, constant(0)]).target
    kind: Any = type(whole.sample)
    builder.demand(has_length, whole, constant(len(whole.sample)))
    pull = builder.operation(operator.getitem, [both, constant(1)], certain=True)
    cotangents: dict[int, Value] = {}

    def back(builder: Builder, _: Value | None) -> list[Contribution]:
        if not cotangents:
            return []
        given = [cotangents.pop(i, constant(None)) for i in range(len(whole.sample))]
        return CalledPullback(pull.target, xs).back(builder, structure(tuple, given))

    pull.required, pull.reverse_rule, pull.active_operands = True, Mirror(back), xs
    parts = [_kept_part(builder, whole, i, operands, cotangents) for i in range(len(whole.sample))]
    if hasattr(kind, "_fields"):
        return named_tuple(kind, parts)
    found = structure(kind, parts)
    if kind is list:
        builder.settle_home(found)
    return found


def _kept_part(
    builder: Builder, whole: Value, place: int, operands: list[Value], cotangents: dict[int, Value]
) -> Value:
    """Write a part, whose cotangent is kept for the pullback of all."""
    op: Op = builder.operation(operator.getitem, [whole, constant(place)])
    x = op.target
    if not (x.is_array or x.is_scalar):
        raise Unsound.NO_FLOAT("a value that depends on a differentiated argument is not a float")
    op.check = not isinstance(x.fact, Scalar) or op.check
    x.fresh = x.made = False
    for y in operands:
        if y.is_array and x.is_array and shares_memory(x.sample, y.sample):
            if builder.storage(y).may_be_written:
                raise Unsound.SHARED_WRITE("a rule gives views of an array that may be written")
            x.base = builder.storage(y)
    if can_carry(x.fact):
        x.active = True
        op.active_operands, op.reverse_rule = [], KeptPart(place, cotangents)
    return x


class KeptPart:
    """Through a part: its cotangent waits for those of the others."""

    def __init__(self, place: int, cotangents: dict[int, Value]) -> None:
        self.place, self.cotangents = place, cotangents

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Keep the cotangent."""
        self.cotangents[self.place] = dy
        return []
