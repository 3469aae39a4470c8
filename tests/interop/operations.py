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
