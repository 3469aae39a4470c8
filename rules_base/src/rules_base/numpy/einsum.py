"""Einstein sums: the cotangent of an operand is an Einstein sum of `dy` and the other operands."""

from collections import Counter
from functools import lru_cache
from string import ascii_letters

import numpy as np

from rules_base.shared.axes import on_the_diagonal
from rules_base.shared.matrices import ArrayLike, as_array, conjugate, zero_filled
from rulescore import RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.einsum", may_raise=False)


@rule(np.einsum)
def _(subscripts: str, *operands: ArrayLike, optimize=False, **options):
    refuse_some(options)
    parts = [operand_part(i, subscripts, operands, optimize) for i in range(len(operands))]
    return np.einsum(subscripts, *operands, optimize=optimize, **options), (None, *parts)


@rule(np.einsum)
def _(first: ArrayLike, *others: object, optimize=False, **options):
    # the form np.einsum(a, [0, 1], b, [1, 2], [0, 2])
    refuse_some(options)
    arguments = (first, *others)
    count = len(arguments) // 2
    subscripts = ",".join([letters_of(labels) for labels in arguments[1 : 2 * count : 2]])
    if len(arguments) > 2 * count:
        subscripts += "->" + letters_of(arguments[-1])
    operands, parts = arguments[: 2 * count : 2], [None] * len(arguments)
    for i in range(count):
        parts[2 * i] = operand_part(i, subscripts, operands, optimize)
    return np.einsum(first, *others, optimize=optimize, **options), tuple(parts)


@rule.forward(np.einsum)
def _(subscripts: str, *operands: ArrayLike, optimize=False, **options):
    refuse_some(options)

    def pushforward(_, *tangents):
        total = None
        for i, dx in enumerate(tangents):
            if dx is not None:
                given = [*operands[:i], as_array(dx), *operands[i + 1 :]]
                part = np.einsum(subscripts, *given, optimize=optimize)
                total = part if total is None else total + part
        return total

    return np.einsum(subscripts, *operands, optimize=optimize, **options), pushforward


def refuse_some(options):
    """Refuse `out`, through which a gradient would be lost, and `casting` that drops parts."""
    if options.get("casting") == "unsafe":
        raise NotImplementedError(
            'np.einsum(..., casting="unsafe") has no rule: convert its operands by `astype`'
        )
    if options.get("out") is not None:
        raise NotImplementedError("np.einsum(..., out=...) has no rule: assign its result instead")


def letters_of(labels):
    """Return integer labels, possibly with an ellipsis, as the letters that sort as they do."""
    letters = ascii_letters[26:] + ascii_letters[:26]
    # by `int` they are constants, though they stand beside operands that are differentiated
    return "".join(["..." if label is Ellipsis else letters[int(label)] for label in labels])


@lru_cache(maxsize=4096)
def parse(subscripts, dimensions):
    """Return the labels of each operand and of the result, with letters in place of ellipses.

    Arguments:
        subscripts: what `np.einsum` takes.
        dimensions: the number of dimensions of each operand.
    """
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    free = "".join(sorted(set(ascii_letters) - set(given)))
    terms, widest = [], 0
    for term, ndim in zip(given.split(","), dimensions, strict=True):
        width = ndim - len(term.replace(".", ""))
        widest = max(width, widest)
        terms.append(term.replace("...", free[:width][::-1]))
    batch = free[:widest][::-1]
    if arrow:
        return tuple(terms), result.replace("...", batch)
    counts = Counter(given.replace("...", "").replace(",", ""))
    return tuple(terms), batch + "".join(sorted(c for c in counts if counts[c] == 1))


def operand_part(i, subscripts, operands, optimize):
    """Return the part of the pullback of an Einstein sum that is for its operand `i`."""

    def of_operand(dy):
        arrays = [as_array(x) for x in operands]
        if arrays[i].dtype.kind not in "iufc":
            return None
        shapes = tuple([x.shape for x in arrays])
        others = [conjugate(other) for k, other in enumerate(arrays) if k != i]
        how = optimize if isinstance(optimize, str) else bool(optimize)
        plan = plans_for(subscripts, shapes)[i]
        return project(operand_cotangent(dy, others, plan, shapes[i], how), operands[i])

    return of_operand


@lru_cache(maxsize=4096)
def plans_for(subscripts, shapes):
    """Return how to compute the cotangent of each operand of the given shapes.

    A plan is `(sum, stretched, diagonals)`. `sum` is what to pass to `np.einsum` with `dy` and the
    other operands. A label that only this operand has was summed over, and the cotangent is
    constant along it: then `stretched` is the shape before it is broadcast along such axes,
    otherwise `None`. A label that it has twice puts the cotangent on `diagonals`, pairs of axes.
    """
    terms, result = parse(subscripts, tuple([len(shape) for shape in shapes]))
    sizes = {}
    for term, shape in zip(terms, shapes, strict=True):
        for c, n in zip(term, shape, strict=True):
            sizes[c] = n if sizes.get(c, 1) == 1 else sizes[c]
    plans = []
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        known = {c: sizes[c] for c in result}
        for k, (other, lengths) in enumerate(zip(terms, shapes, strict=True)):
            if k != i:
                for c, n in zip(other, lengths, strict=True):
                    known[c] = n if known.get(c, 1) == 1 else known[c]
        # along an axis of length 1 the operand was broadcast, and its cotangent is summed
        own = dict(zip(term, shape, strict=True))
        kept = [c for c, n in own.items() if c in known and (n != 1 or known[c] == 1)]
        labels = [result, *terms[:i], *terms[i + 1 :]]
        first = [c not in term[:axis] for axis, c in enumerate(term)]
        stretched = tuple(
            [known[c] if c in kept and new else 1 for c, new in zip(term, first, strict=True)]
        )
        diagonals = [(term.index(c), axis) for axis, c in enumerate(term) if not first[axis]]
        plans.append(
            (
                ",".join(labels) + "->" + "".join(kept),
                None if stretched == shape and len(kept) == len(term) else stretched,
                diagonals,
            )
        )
    return plans


def operand_cotangent(dy, others, plan, shape, optimize):
    """Return the cotangent of one operand of the given shape."""
    subscripts, stretched, diagonals = plan
    dx = np.einsum(subscripts, zero_filled(dy), *others, optimize=optimize)
    if stretched is None:
        return dx
    dx = np.broadcast_to(np.reshape(dx, stretched), shape)
    for pair in diagonals:
        on_diagonal = [n if axis in pair else 1 for axis, n in enumerate(shape)]
        n = shape[pair[0]]
        dx = np.where(np.reshape(on_the_diagonal(n, n, dx), on_diagonal), dx, 0)
    return dx


# -- of batches


@rule.batched(np.einsum)
def _(subscripts: str, *operands: ArrayLike, optimize=False):
    if not isinstance(subscripts, str) or not all(isinstance(x, np.ndarray) for x in operands):
        return NotImplemented
    return einsum_of_batches(subscripts, operands, optimize)


def einsum_of_batches(subscripts, operands, optimize=False):
    """Return the Einstein sums of a batch: one letter more, in all that is not the same for all."""
    text = subscripts.replace(" ", "")
    letter = next(c for c in ascii_letters if c not in text)
    given, arrow, result = text.partition("->")
    if not arrow:
        found = Counter(c for c in given if c.isalpha())
        result = "..." * ("..." in given) + "".join(sorted(c for c in found if found[c] == 1))
    count = max(map(len, operands))
    same = [len(x) == 1 and count > 1 for x in operands]
    parts = [p if once else letter + p for p, once in zip(given.split(","), same, strict=True)]
    operands = [x[0] if once else x for x, once in zip(operands, same, strict=True)]
    return np.einsum(f"{','.join(parts)}->{letter}{result}", *operands, optimize=optimize)
