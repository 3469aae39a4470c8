"""Functions of an array that arrays of other libraries are tried with, and where to try them."""

import numpy as np

X = np.linspace(0.2, 1.7, 6).reshape(2, 3)
OPERATIONS = {
    "`np.exp(x)`, `np.sum`": lambda x: np.sum(np.exp(x)),
    "`x * x + 2 * x`": lambda x: np.sum(x * x + 2 * x),
    "`np.mean(x, axis=0)`": lambda x: np.sum(np.mean(x * x, axis=0)),
    "`x @ x.T`": lambda x: np.sum(x @ x.T),
    "`np.reshape(x, (-1,))`": lambda x: np.sum(np.reshape(x, (-1,)) ** 2),
    "`x[0]`": lambda x: np.sum(x[0] ** 2),
    "`np.concatenate`": lambda x: np.sum(np.concatenate([x, x]) ** 2),
    "`np.where(x > 1, ...)`": lambda x: np.sum(np.where(x > 1.0, x * x, x)),
    "`np.maximum(x, 1)`": lambda x: np.sum(np.maximum(x, 1.0) * x),
    "`np.einsum`": lambda x: np.sum(np.einsum("ij,ij->i", x, x)),
    "`np.linalg.norm`": np.linalg.norm,
    "`np.std`": lambda x: np.std(x),
    "`for row in x`": lambda x: sum(np.sum(row) ** 2 for row in x),
}
OF_STANDARD = {  # by the functions `xp` of the array API standard that the array says
    "`xp.sum(xp.exp(x))`": lambda x, xp: xp.sum(xp.exp(x)),
    "`x * x + 2 * x`": lambda x, xp: xp.sum(x * x + 2 * x),
    "`xp.mean(x, axis=0)`": lambda x, xp: xp.sum(xp.mean(x * x, axis=0)),
    "`x @ x.T`": lambda x, xp: xp.sum(x @ x.T),
    "`xp.tensordot`": lambda x, xp: xp.sum(xp.tensordot(x, xp.matrix_transpose(x), axes=1)),
    "`xp.reshape(x, (-1,))`": lambda x, xp: xp.sum(xp.reshape(x, (-1,)) ** 2),
    "`xp.permute_dims`": lambda x, xp: xp.sum(xp.permute_dims(x, (1, 0)) * xp.matrix_transpose(x)),
    "`x[0, :]`": lambda x, xp: xp.sum(x[0, :] ** 2),
    "`xp.take`": lambda x, xp: xp.sum(xp.take(x, xp.asarray([0, 2]), axis=1) ** 2),
    "`xp.concat`": lambda x, xp: xp.sum(xp.concat([x, x]) ** 2),
    "`xp.stack`": lambda x, xp: xp.sum(xp.stack([x, 2 * x]) ** 2),
    "`xp.where`": lambda x, xp: xp.sum(xp.where(x > 1.0, x * x, x)),
    "`xp.maximum`": lambda x, xp: xp.sum(xp.maximum(x, xp.ones_like(x)) * x),
    "`xp.clip`": lambda x, xp: xp.sum(xp.clip(x, 0.45, 1.45) * x),
    "`xp.sort`": lambda x, xp: xp.sum(xp.sort(x, axis=1) * x),
    "`xp.astype`": lambda x, xp: xp.sum(xp.astype(x, xp.float64) * x),
    "`xp.std`": lambda x, xp: xp.std(x),
    "`xp.cumulative_sum`": lambda x, xp: xp.sum(xp.cumulative_sum(x, axis=1) * x),
    "`xp.linalg.vector_norm`": lambda x, xp: xp.linalg.vector_norm(x),
    "`xp.linalg.vecdot`": lambda x, xp: xp.sum(xp.linalg.vecdot(x, x) ** 2),
    "`xp.linalg.solve`": lambda x, xp: xp.sum(xp.linalg.solve(x[:, :2], x) * x),
}


def by_standard(f, namespace_of):
    """Return a function of an array, of one of the array and of the namespace that it says."""
    return lambda x: f(x, namespace_of(x))
