"""Scale factors: the numbers in a product of arrays are multiplied first, and the arrays once.

A rule multiplies a cotangent by a partial derivative, and so a chain of rules by many numbers: in
`-(dy * 0.5) * (1 - y * y) * c` three of the four products of arrays are by numbers.
"""

import math
import operator
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ArrayOf, Scalar
from zygote_lite._specialize.typed.nodes import AddInto, Node, Op, StoreItem, leaves, reads_of, walk
from zygote_lite._specialize.typed.values import Value, constant, is_one, memory_of, shape_root

_MULTIPLYING = (operator.mul, operator.neg, operator.truediv)
_SMALLEST = 1e-100  # for a product of constants, which might leave the range of floats alone


@dataclass
class _Product:
    """A product of arrays and numbers: `numbers` are all in it, and `ops` what computes it."""

    numbers: list[Value]
    ops: list[Op]


def gather_factors(
    builder: Builder, forward: list[Node], backward: list[Node], results: list[Value]
) -> None:
    """Multiply the numbers of each product in the reverse pass first, if they are several."""
    nodes = [*walk([*forward, *backward])]
    reads = Counter(x for node in nodes for x in reads_of(node))
    reads.update(leaf for x in results for leaf in leaves(x))
    written = {memory_of(node.target) for node in nodes if isinstance(node, AddInto)}
    written |= {memory_of(node.array) for node in nodes if isinstance(node, StoreItem)}
    products: dict[Value, _Product] = {}
    inside: set[Value] = set()
    for op in _products_in(backward):
        if any(memory_of(x) in written for x in (op.target, *op.arguments)):
            continue  # a number that is multiplied later would meet what is written by then
        product = _Product([], [op])
        for place, x in enumerate(op.arguments):
            inner = products.get(x)
            if not x.is_array:
                product.numbers.append(x)
            elif inner is not None and reads[x] == 1 and not _is_divisor(op, place):
                inside.add(x)
                product.numbers += inner.numbers
                product.ops += inner.ops
        product.numbers += [constant(-1.0)] * (op.function is operator.neg)
        products[op.target] = product
    multiples = {
        op.target: op
        for op in _products_in(forward)
        if op.function is operator.mul and not any(memory_of(x) in written for x in op.arguments)
    }
    for target, product in products.items():
        if target not in inside and product.numbers:
            _cancel(product, multiples)
            if len(product.numbers) > 1:
                _gather(builder, backward, product)


def _products_in(block: list[Node]) -> Iterable[Op]:
    """Return the operations that multiply or divide float64 arrays of one shape, or numbers."""
    return [node for node in block if isinstance(node, Op) and _multiplies(node)]


def _multiplies(op: Op) -> bool:
    if op.function not in _MULTIPLYING or op.keywords or op.check or not _is_wide_array(op.target):
        return False
    arrays, numbers = _arrays_in(op), [x for x in op.arguments if not x.is_array]
    if not arrays or (op.function is operator.truediv and numbers):
        return False
    root = shape_root(op.target)
    return all(_is_wide_array(x) and shape_root(x) is root for x in arrays) and all(
        isinstance(x.fact, Scalar) and x.fact.classes <= {float} for x in numbers
    )


def _arrays_in(op: Op) -> list[Value]:
    return [x for x in op.arguments if x.is_array]


def _is_divisor(op: Op, place: int) -> bool:
    return op.function is operator.truediv and place == 1


def _is_wide_array(x: Value) -> bool:
    """Return whether a value is an array of float64, whose range is wide enough for any order."""
    return isinstance(x.fact, ArrayOf) and x.fact.dtype == "float64" and not x.may_be_written


def _cancel(product: _Product, multiples: dict[Value, Op]) -> None:
    """Read `x` itself for a `c * x` of the forward pass whose number the others cancel."""
    scale = _constant_in(product)
    if not all(x.is_constant for x in product.numbers):
        return
    for op in product.ops:
        for place, x in enumerate(op.arguments):
            made = multiples.get(x)
            if made is None or len(_arrays_in(made)) > 1 or _is_divisor(op, place):
                continue
            number = next(y for y in made.arguments if not y.is_array)
            if number.is_constant and abs(number.sample * scale) == 1.0:
                op.arguments[place] = _arrays_in(made)[0]
                product.numbers.append(number)
                return


def _constant_in(product: _Product) -> float:
    """Return the product of the numbers that are constants."""
    return float(math.prod(x.sample for x in product.numbers if x.is_constant))


def _gather(builder: Builder, block: list[Node], product: _Product) -> None:
    """Write one product with its numbers apart."""
    last, *_ = product.ops
    number = _constant_in(product)
    if not _SMALLEST < abs(number) < 1 / _SMALLEST:
        return
    suspect = any(op.suspect for op in product.ops)
    outer, builder.out, builder.origin = builder.out, [], last.origin
    scale = constant(number)
    for x in [x for x in product.numbers if not x.is_constant]:
        scale = x if is_one(scale) else builder.operation(operator.mul, [scale, x]).target
        number = 0.0
    standing: dict[Value, Value] = {}  # the array in a product of it and numbers
    made: dict[Value, Op] = {}
    for op in [node for node in block if node in product.ops]:
        assert isinstance(op, Op)
        op.arguments = [standing.get(x, x) for x in op.arguments]
        if op is not last and len(_arrays_in(op)) == 1:
            standing[op.target] = _arrays_in(op)[0]
            block.remove(op)
        elif op is not last:
            made[op.target] = op
            op.target.name = builder.name("t1")
    arrays = _arrays_in(last)
    if number == 1.0 and len(arrays) > 1:
        last.arguments = arrays
    elif number == 1.0 and arrays[0] in made:  # which gives the product itself
        made[arrays[0]].target = last.target
        block.remove(last)
    else:
        if len(arrays) > 1:
            arrays = [builder.operation(last.function, arrays).target]
        last.function = operator.neg if number == -1.0 else operator.mul
        last.arguments = arrays if number == -1.0 else [*arrays, scale]
        block[block.index(last) : block.index(last)] = builder.out
        last.suspect = suspect
    builder.out = outer
