"""Joining arrays: each part's cotangent is its slice of the whole's."""

import numpy as np

from rulescore import RuleSet, project

rule = RuleSet("rules_base")


@rule(np.concatenate)
def _(arrays: list | tuple, axis=0):
    def pullback(dy):
        return (type(arrays)(slices(dy, arrays, axis)),)

    return np.concatenate(arrays, axis), pullback


def slices(dy, arrays, axis):
    """Return the slice of `dy` that each of the joined `arrays` has, one after another."""
    if axis is None:
        dy, axis = np.reshape(dy, (-1,)), 0
        lengths = [np.size(x) for x in arrays]
    else:
        axis %= np.ndim(dy)
        lengths = [np.shape(x)[axis] for x in arrays]
    parts, start = [], 0
    for x, n in zip(arrays, lengths, strict=True):
        part = dy[(slice(None),) * axis + (slice(start, start + n),)]
        parts.append(project(np.reshape(part, np.shape(x)), x))
        start += n
    return parts


@rule(np.stack)
def _(arrays: list | tuple, axis=0):
    def pullback(dy):
        first = np.moveaxis(dy, axis, 0)
        return (type(arrays)([project(first[i], x) for i, x in enumerate(arrays)]),)

    return np.stack(arrays, axis), pullback


MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
rule.example(np.concatenate, [MATRIX, MATRIX[:1]])
rule.example(np.concatenate, (MATRIX, MATRIX[:, :1]), axis=-1)
rule.example(np.concatenate, (MATRIX, MATRIX[0]), axis=None)
rule.example(np.stack, [MATRIX, MATRIX + 1.0], axis=-1)
rule.example(np.stack, (0.5, 1.5))
