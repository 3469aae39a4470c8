"""Unit quaternions `(x, y, z, w)` and what they stand for, with the adjoints of both ways.

All take stacks: the last axis holds the parts.
"""

import numpy as np


def product(p, q):
    """Return the product of two quaternions."""
    u, a, v, b = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    return np.concatenate(
        [a * v + b * u + np.cross(u, v), a * b - np.sum(u * v, -1, keepdims=True)], -1
    )


def conjugated(q):
    """Return the inverse of a unit quaternion."""
    return np.concatenate([-q[..., :3], q[..., 3:]], -1)


def dot(x, y):
    """Return the scalar product of vectors, with an axis of length one in its place."""
    return np.sum(x * y, -1, keepdims=True)


def normalized_back(dy, x):
    """Return the cotangent of a vector from that of the vector of length one."""
    size = np.sqrt(dot(x, x))
    y = x / size
    return (dy - y * dot(y, dy)) / size


def matrix_back(dm, q):
    """Return the cotangent of a quaternion from that of its matrix."""
    v, w = q[..., :3], q[..., 3:]
    trace = np.trace(dm, axis1=-2, axis2=-1)[..., None]
    turned = axial(dm)
    both = dm + np.swapaxes(dm, -1, -2)
    # the matrix is (w^2 - v.v) I + 2 v v^T + 2 w [v]
    dv = -2 * trace * v + 2 * np.sum(both * v[..., None, :], -1) + 2 * w * turned
    return np.concatenate([dv, 2 * trace * w + 2 * dot(turned, v)], -1)


def axial(dm):
    """Return the cotangent of a vector from that of the matrix of its vector product."""
    return np.stack(
        [
            dm[..., 2, 1] - dm[..., 1, 2],
            dm[..., 0, 2] - dm[..., 2, 0],
            dm[..., 1, 0] - dm[..., 0, 1],
        ],
        -1,
    )


def matrix_of(q):
    """Return the matrix of a unit quaternion."""
    v, w = q[..., :3], q[..., 3:]
    scale = (w * w - dot(v, v))[..., None]
    both = v[..., :, None] * v[..., None, :] + w[..., None] * crossing(v)
    return scale * np.eye(3) + 2 * both


def from_vector_back(dq, r):
    """Return the cotangent of a rotation vector from that of its quaternion."""
    square = dot(r, r)
    small = square < 1e-4
    angle = np.sqrt(np.where(small, 1.0, square))
    sine, cosine = np.sin(angle / 2) / angle, np.cos(angle / 2)
    sine = np.where(small, 0.5 - square / 48 + square**2 / 3840, sine)
    near = -1 / 24 + square / 960 - square**2 / 107520
    slope = np.where(small, near, (cosine / 2 - sine) / np.where(small, 1.0, square))
    dv, dw = dq[..., :3], dq[..., 3:]
    return sine * dv + r * (slope * dot(r, dv) - dw * sine / 2)


def to_vector_back(dr, q):
    """Return the cotangent of a unit quaternion from that of its rotation vector."""
    q, dq_sign = canonical(q)
    v, w = q[..., :3], q[..., 3:]
    square = dot(v, v)
    small = square < 1e-6
    size = np.sqrt(np.where(small, 1.0, square))
    half = np.where(small, 0.5, np.arctan2(size, w))
    scale = np.where(small, 2 + square / 3 + 3 * square**2 / 20, 2 * half / size)
    near = 1 / 3 + 3 * square / 10
    slope = np.where(small, near, (1 - half * w / size) / np.where(small, 1.0, square))
    along = dot(v, dr)
    dv = scale * dr + 2 * v * slope * w * along
    dw = -2 * square * slope * along
    return dq_sign * np.concatenate([dv, dw], -1)


def canonical(q):
    """Return the one of `q` and `-q` whose scalar part is not negative, and the sign."""
    sign = np.ones_like(q[..., :1])
    for k in (2, 1, 0, 3):  # the last one that is not zero decides
        sign = np.where(q[..., k : k + 1] == 0, sign, np.sign(q[..., k : k + 1]))
    return sign * q, sign


def polar_back(dr, m, r):
    """Return the cotangent of matrices from that of the rotations `r` that are next to them.

    Where `m = r s` with a symmetric `s`, it is `r x`, with `s x + x s = r^T dr - dr^T r`: for the
    vectors of these products, `(trace(s) I - s) x = v`. So no singular vectors are needed, which
    a rotation, whose singular values are alike, does not determine.
    """
    turned = np.swapaxes(r, -1, -2)
    s = turned @ m
    s = (s + np.swapaxes(s, -1, -2)) / 2
    sums = np.trace(s, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - s
    refuse_undetermined(sums)
    x = np.linalg.solve(sums, axial(turned @ dr)[..., None])[..., 0]
    return r @ crossing(x)


def refuse_undetermined(sums):
    """Raise `LinAlgError` where several rotations are next to a matrix.

    Arguments:
        sums: matrices whose eigenvalues are the sums of two singular values each.
    """
    sizes = np.abs(np.linalg.eigvalsh(sums))
    if np.any(np.min(sizes, -1) <= 1e-12 * np.max(sizes, -1)):
        raise np.linalg.LinAlgError(
            "the rotation that is next to a matrix is not determined, and has no derivative"
        )


def crossing(x):
    """Return the matrices of vector products with `x`."""
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    none = np.zeros_like(a)
    return np.stack([none, -c, b, c, none, -a, -b, a, none], -1).reshape((*a.shape, 3, 3))


def from_rotation_matrix_back(dq, m, q):
    """Return the cotangent of a rotation matrix from that of its quaternion.

    SciPy divides by the largest of the parts: which one that is decides how the quaternion goes on
    beside rotations.
    """
    decision = np.stack(
        [m[..., 0, 0], m[..., 1, 1], m[..., 2, 2], np.trace(m, axis1=-2, axis2=-1)], -1
    )
    choice = np.argmax(decision, -1)
    size = 4 * np.take_along_axis(q, choice[..., None], -1)  # by which SciPy has divided
    sign = np.sign(size)
    raw = (dq - q * dot(q, dq)) / np.abs(size) * sign
    found = np.zeros((*dq.shape[:-1], 3, 3))
    for k, table in enumerate(RAW):
        chosen = choice == k
        for part, entries in enumerate(table):
            for row, column, factor in entries:
                found[..., row, column] += np.where(chosen, factor * raw[..., part], 0.0)
    return found


# what SciPy normalizes: each part is a sum of entries of the matrix, for each choice
_DIAGONAL = [
    [(i, i, 1.0 if i == k else -1.0) for i in range(3)]
    if k < 3
    else [(i, i, 1.0) for i in range(3)]
    for k in range(4)
]
_SUM = {(i, j): [(i, j, 1.0), (j, i, 1.0)] for i in range(3) for j in range(3)}
_TURN = [[(2, 1, 1.0), (1, 2, -1.0)], [(0, 2, 1.0), (2, 0, -1.0)], [(1, 0, 1.0), (0, 1, -1.0)]]
RAW = [
    [*[_DIAGONAL[k] if i == k else _SUM[(k, i)] for i in range(3)], _TURN[k]] for k in range(3)
] + [[*_TURN, _DIAGONAL[3]]]
