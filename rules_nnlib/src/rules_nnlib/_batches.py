"""Predictions and targets of a batch, in one shape.

The activations need no batching rules: they have scalar rules, and so are elementwise.
"""

import numpy as np

from rulescore.batching import aligned


def paired(y_pred, y):
    """Return batches of predictions and targets of one shape; a number is repeated.

    Raises `ValueError` where the shapes of their entries differ, as for an entry.
    """
    shapes = [np.shape(x)[1:] for x in (y_pred, y)]
    if shapes[0] != shapes[1] and all(shapes):
        raise ValueError(f"a loss takes prediction and target of one shape, not {shapes}")
    shape = (max(len(x) for x in (y_pred, y) if np.ndim(x)), *max(shapes, key=len))
    return [np.broadcast_to(x, shape) if np.ndim(x) else x for x in aligned(y_pred, y)]
