"""Powers of a matrix and products of many: their pullbacks go back through the same products.

A product of `n` matrices is taken in the order that is cheapest, and the pullback takes two
products for each that was taken.
"""

import numpy as np

from rules_base.numpy.linalg.solve import inv_cotangent
from rules_base.shared.axes import inexact
from rules_base.shared.batches import of_stacks
from rules_base.shared.matrices import ArrayLike, adjoint, as_array
from rulescore import Array, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.linalg.chains")


@rule(np.linalg.matrix_power)
def _(a: ArrayLike, n: object):
    y = np.linalg.matrix_power(a, n)

    def pullback(dy):
        x = inexact(as_array(a))
        if n >= 0:
            return project(power_cotangent(dy, x, int(n)), a), None
        inverse = np.linalg.inv(x)
        dinverse = power_cotangent(dy, inverse, -int(n))
        return project(inv_cotangent(dinverse, inverse), a), None

    return y, pullback


def power_cotangent(dy, a, n):
    """Return the cotangent of `a` in the `n`-th power of `a`, by repeated squaring.

    The power is the product of those squares `a, a^2, a^4, ...` whose binary digit in `n` is one.
    """
    digits = [digit == "1" for digit in reversed(f"{n:b}")]
    squares = [a]
    for _ in digits[1:]:
        squares.append(squares[-1] @ squares[-1])
    products = [None]  # what stands before each factor
    for square, digit in zip(squares[:-1], digits[:-1], strict=True):
        before = products[-1]
        products.append(before if not digit else square if before is None else before @ square)
    dsquare = np.zeros_like(a, dtype=np.result_type(a, dy))
    for k in reversed(range(len(digits))):
        if k + 1 < len(digits):
            back = adjoint(squares[k])
            dsquare = back @ dsquare + dsquare @ back
        if digits[k]:
            before = products[k]
            if before is None:
                dsquare = dsquare + dy
            else:
                dsquare = dsquare + adjoint(before) @ dy
                dy = dy @ adjoint(squares[k])
    return dsquare


@rule(np.linalg.multi_dot)
def _(arrays: list | tuple | Array):
    y = np.linalg.multi_dot(arrays)

    def pullback(dy):
        matrices = [inexact(as_array(x)) for x in arrays]
        if matrices[0].ndim == 1:
            matrices[0] = matrices[0][None, :]
        if matrices[-1].ndim == 1:
            matrices[-1] = matrices[-1][:, None]
        tree = cheapest_order([*[m.shape[0] for m in matrices], matrices[-1].shape[1]])
        cotangents = [None] * len(matrices)
        dproduct = np.reshape(dy, (matrices[0].shape[0], matrices[-1].shape[1]))
        factors = (multiplied(matrices, branch) for branch in tree)
        for place, dx in chain_cotangents(dproduct, (y, *factors)):
            cotangents[place] = np.reshape(dx, np.shape(arrays[place]))
        if isinstance(arrays, Array):
            return (project(np.stack(cotangents), arrays),)
        return (project(cotangents, arrays),)

    return y, pullback


def cheapest_order(sizes):
    """Return the order in which a product of matrices takes the fewest multiplications.

    Arguments:
        sizes: the number of rows of each matrix, and of columns of the last.

    The order is a nested pair: a number stands for a matrix, a pair for a product. (Cormen et al.,
    "Introduction to Algorithms", matrix-chain multiplication.)
    """
    count = len(sizes) - 1
    best = {(i, i + 1): (0, i) for i in range(count)}
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            k = i + length
            best[i, k] = min(
                [
                    (
                        best[i, j][0] + best[j, k][0] + sizes[i] * sizes[j] * sizes[k],
                        (best[i, j][1], best[j, k][1]),
                    )
                    for j in range(i + 1, k)
                ],
                key=lambda found: found[0],
            )
    return best[0, count][1]


def multiplied(matrices, tree):
    """Return the product of `matrices` in the order `tree`, with the products on the way.

    It is `(value, left, right)` for a product and `(value, place)` for one of the matrices.
    """
    if isinstance(tree, int):
        return matrices[tree], tree
    left, right = (multiplied(matrices, branch) for branch in tree)
    return left[0] @ right[0], left, right


def chain_cotangents(dy, product):
    """Yield the place and the cotangent of each matrix in a product from `multiplied`."""
    if len(product) == 2:
        yield product[1], dy
        return
    _, left, right = product
    yield from chain_cotangents(dy @ adjoint(right[0]), left)
    yield from chain_cotangents(adjoint(left[0]) @ dy, right)


rule.batched(np.linalg.matrix_power)(of_stacks(np.linalg.matrix_power))
