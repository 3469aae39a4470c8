"""Calls that the rules of `rules_base.numpy.products` are checked with."""

import numpy as np

from rules_base.numpy.products import rule

VECTOR = np.array([0.5, -1.5, 2.0])
OTHER = np.array([1.25, 0.5, -0.75])
PHASE = np.array([0.25 - 1j, 2.0 + 0.5j, -1.0 + 0.75j])
MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
COMPLEX = MATRIX + 1j * np.cos(MATRIX)
STACK = np.sin(np.arange(24.0)).reshape(2, 4, 3)
for f in (np.inner, np.vdot, np.outer, np.kron, np.cross, np.vecdot):
    rule.example(f, VECTOR, OTHER)
    rule.example(f, PHASE, VECTOR)
    rule.example(f, VECTOR, PHASE)
    rule.example(f, PHASE, PHASE[::-1] + 0.5)
    rule.example(f, [0.5, -1.5, 2.0], OTHER)
for f in (np.linalg.outer, np.linalg.cross, np.linalg.vecdot):
    rule.example(f, PHASE, VECTOR)
    rule.example(f, VECTOR, PHASE)
for f in (np.inner, np.vdot, np.outer, np.kron):
    rule.example(f, 0.5, -0.75)
    rule.example(f, MATRIX, COMPLEX)
for f in (np.inner, np.kron, np.outer):
    rule.example(f, 0.5, MATRIX)
    rule.example(f, STACK, COMPLEX)
    rule.example(f, VECTOR, STACK)
rule.example(np.tensordot, STACK, COMPLEX, ([2], [1]))
rule.example(np.tensordot, MATRIX, STACK, ([0, 1], [0, 2]))
rule.example(np.tensordot, STACK, STACK, ([2, 0], [2, 0]))
rule.example(np.tensordot, STACK, np.moveaxis(STACK, 1, 0), ([2, 0], [-1, 1]))
rule.example(np.tensordot, MATRIX, STACK.T, axes=1)
rule.example(np.tensordot, MATRIX, COMPLEX)
rule.example(np.tensordot, VECTOR, PHASE, axes=0)
rule.example(np.linalg.tensordot, STACK, MATRIX, axes=(2, 1))
rule.example(np.cross, STACK, VECTOR)
rule.example(np.cross, STACK, np.ones((2, 1, 3)) * PHASE)
rule.example(np.cross, STACK.T, STACK.T, axis=0)
rule.example(np.linalg.cross, STACK.T, STACK.T + 0.5, axis=0)
rule.example(np.linalg.matmul, STACK, COMPLEX.T)
rule.example(np.linalg.matmul, MATRIX.tolist(), VECTOR)
rule.example(np.vecdot, STACK, COMPLEX[0])
rule.example(np.vecdot, STACK, STACK + 0.5j, axis=1)
rule.example(np.linalg.vecdot, STACK.T, STACK.T, axis=0)
if hasattr(np, "matvec"):
    for f, stack in ((np.matvec, STACK), (np.vecmat, STACK.swapaxes(-1, -2))):
        order = slice(None) if f is np.matvec else slice(None, None, -1)
        rule.example(f, *(stack, VECTOR)[order])
        rule.example(f, *(stack[0], COMPLEX)[order])
        rule.example(f, *(stack + 0.5j, COMPLEX)[order])
        rule.example(f, *(stack[:, None], MATRIX)[order])
