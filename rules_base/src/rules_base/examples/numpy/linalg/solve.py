"""Calls that the rules of `rules_base.numpy.linalg.solve` are checked with."""

import numpy as np

from rules_base.numpy.linalg.solve import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
STACK = np.stack([MATRIX, MATRIX.T @ MATRIX + 0.5])
TALL = np.sin(np.arange(12.0)).reshape(4, 3) + 0.25 * np.eye(4, 3)
SINGULAR = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])
VECTOR = np.array([0.5, -1.5, 2.0])
TENSOR = np.sin(np.arange(36.0) ** 2).reshape(2, 3, 3, 2)
for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.pinv):
    for a in (MATRIX, COMPLEX, STACK, STACK + 0.5j * COMPLEX, MATRIX[:1, :1], MATRIX.tolist()):
        rule.example(f, a)
rule.example(np.linalg.det, SINGULAR)
rule.example(np.linalg.det, SINGULAR + 1j * SINGULAR)
rule.example(np.linalg.det, np.stack([SINGULAR, MATRIX]))
rule.example(np.linalg.det, np.outer(VECTOR, VECTOR))
for a in (TALL, TALL.T, TALL + 1j * np.cos(TALL), np.stack([TALL, TALL[::-1]])):
    rule.example(np.linalg.pinv, a)
rule.example(np.linalg.pinv, MATRIX + MATRIX.T, hermitian=True)
rule.example(np.linalg.pinv, COMPLEX + COMPLEX.conj().T, hermitian=True)
for a in (MATRIX, COMPLEX):
    for b in (VECTOR, VECTOR - 0.5j, TALL.T, TALL.T * 1j + 0.5):
        rule.example(np.linalg.solve, a, b)
        rule.example(np.linalg.lstsq, a, b)
rule.example(np.linalg.solve, MATRIX, np.stack([MATRIX, COMPLEX]))
rule.example(np.linalg.solve, STACK, VECTOR)
rule.example(np.linalg.solve, STACK, TALL.T)
rule.example(np.linalg.solve, MATRIX.tolist(), VECTOR.tolist())
for a in (TALL, TALL + 1j * np.cos(TALL)):
    for b in (VECTOR, COMPLEX):
        rule.example(np.linalg.lstsq, a.T, b)
    for b in (TALL[:, 0] ** 2, TALL[:, :2] ** 2 + 0.5j):
        rule.example(np.linalg.lstsq, a, b)
for offset in (-1, 0, 2):
    for f in (np.linalg.trace, np.linalg.diagonal):
        rule.example(f, TALL, offset=offset)
        rule.example(f, STACK[:, :2] + 0.5j, offset=offset)
rule.example(np.linalg.trace, MATRIX.tolist())
for offset in (-2, 4, -5):
    rule.example(np.linalg.diagonal, MATRIX, offset=offset)
rule.example(np.linalg.matrix_transpose, STACK)
rule.example(np.linalg.tensorinv, TENSOR)
rule.example(np.linalg.tensorinv, TENSOR.reshape(6, 2, 3) + 0.5j, ind=1)
rule.example(np.linalg.tensorsolve, TENSOR, TENSOR[0, :, :2, 1].T)
rule.example(np.linalg.tensorsolve, TENSOR + 0.5j, TENSOR[0, :, :, 1][:, :2], axes=(0, 2))
