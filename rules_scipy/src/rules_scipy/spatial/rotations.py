"""What `scipy.spatial.transform.Rotation` computes with: functions of arrays of quaternions."""

import numpy as np
from scipy.spatial.transform import _rotation_cy as compiled

from rules_scipy.shared.points.metrics import broadcast_back
from rules_scipy.shared.points.quaternions import (
    canonical,
    conjugated,
    dot,
    from_rotation_matrix_back,
    from_vector_back,
    matrix_back,
    matrix_of,
    normalized_back,
    polar_back,
    product,
    to_vector_back,
)
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.spatial.rotations")
ArrayLike = Numeric | list | tuple
AXES = "no rule by the axes is written yet"
rule.constant(compiled.identity, compiled.approx_equal)


@rule(compiled.from_quat)
def _(quat: ArrayLike, normalize=True, copy=True, scalar_first=False):
    y = np.asarray(compiled.from_quat(quat, normalize, copy, scalar_first))

    def pullback(dy):
        x = np.asarray(quat)
        x = np.roll(x, -1, -1) if scalar_first else x
        dx = normalized_back(dy, x) if normalize else dy
        return (project(np.roll(dx, 1, -1) if scalar_first else dx, quat),)

    return y, pullback


@rule(compiled.from_rotvec)
def _(rotvec: ArrayLike, degrees=False):
    y = np.asarray(compiled.from_rotvec(rotvec, degrees))
    scale = np.pi / 180 if degrees else 1.0

    def pullback(dy):
        return (project(scale * from_vector_back(dy, scale * np.asarray(rotvec)), rotvec),)

    return y, pullback


@rule(compiled.from_mrp)
def _(mrp: ArrayLike):
    y = np.asarray(compiled.from_mrp(mrp))

    def pullback(dy):
        x = np.asarray(mrp)
        scale = 1 + dot(x, x)
        dv, dw = dy[..., :3], dy[..., 3:]
        # (2 x, 1 - x.x) / (1 + x.x)
        return (project(2 * dv / scale - 4 * x * (dot(x, dv) + dw) / scale**2, mrp),)

    return y, pullback


@rule(compiled.from_matrix)
def _(matrix: ArrayLike, assume_valid=False):
    y = np.asarray(compiled.from_matrix(matrix, assume_valid))

    def pullback(dy):
        m = np.asarray(matrix)
        near = m if assume_valid else matrix_of(y)
        found = from_rotation_matrix_back(dy, near, y)
        return (project(found if assume_valid else polar_back(found, m), matrix),)

    return y, pullback


class Turns:
    """Pull a cotangent back through a product of rotations about given axes.

    Arguments:
        axes: the axes, arrays with vectors of length one in their last axis.
        angles: the angles, an array with as many in its last axis.
        extrinsic: whether each is multiplied from the left.
    """

    def __init__(self, axes, angles, extrinsic):
        self.axes, self.angles = axes, angles
        each = []
        for k, axis in enumerate(axes):
            half = angles[..., k : k + 1] / 2
            each.append(np.concatenate([np.sin(half) * axis, np.cos(half) + 0 * axis[..., :1]], -1))
        self.places = list(range(len(axes)))[:: -1 if extrinsic else 1]
        self.each = [each[k] for k in self.places]

    def value(self):
        """Return the product."""
        return multiplied(self.each)

    def cotangents(self, dq):
        """Return the cotangents of the angles and of the axes, in lists."""
        dangles, daxes = [None] * len(self.axes), [None] * len(self.axes)
        for i, k in enumerate(self.places):
            before, after = multiplied(self.each[:i]), multiplied(self.each[i + 1 :])
            de = dq if before is None else product(conjugated(before), dq)
            de = de if after is None else product(de, conjugated(after))
            half = self.angles[..., k] / 2
            along = np.sum(de[..., :3] * self.axes[k], -1)
            dangles[k] = (np.cos(half) * along - np.sin(half) * de[..., 3]) / 2
            daxes[k] = np.sin(half)[..., None] * de[..., :3]
        return dangles, daxes


def multiplied(each):
    """Return the product of quaternions in a list, `None` for an empty one."""
    if not each:
        return None
    y = each[0]
    for q in each[1:]:
        y = product(y, q)
    return y


def in_rows(angles, count):
    """Return angles in an array with `count` of them in its last axis."""
    return np.reshape(np.asarray(angles, float), (-1, count))


@rule(compiled.from_euler)
def _(seq: str, angles: ArrayLike, degrees=False):
    y = np.asarray(compiled.from_euler(seq, angles, degrees))
    scale = np.pi / 180 if degrees else 1.0

    def pullback(dy):
        turns = Turns(basis(seq), scale * in_rows(angles, len(seq)), seq.islower())
        dangles, _ = turns.cotangents(np.reshape(dy, (-1, 4)))
        found = scale * np.stack(dangles, -1)
        return None, project(np.reshape(found, np.shape(angles)), angles)

    return y, pullback


def basis(seq):
    """Return the axes that letters stand for."""
    return [np.eye(3)["xyz".index(letter)] for letter in seq.lower()]


@rule(compiled.from_davenport)
def _(axes: ArrayLike, order: str, angles: ArrayLike, degrees=False):
    y = np.asarray(compiled.from_davenport(axes, order, angles, degrees))
    scale = np.pi / 180 if degrees else 1.0

    def parts(dy):
        given = np.reshape(np.asarray(axes, float), (-1, 3))
        units = given / np.sqrt(dot(given, given))
        extrinsic = order in ("e", "extrinsic")
        turns = Turns(list(units), scale * in_rows(angles, len(units)), extrinsic)
        return (given, *turns.cotangents(np.reshape(dy, (-1, 4))))

    def daxes(found):
        given, _, dunits = found
        rows = np.stack([np.sum(d, 0) for d in dunits])
        return project(np.reshape(normalized_back(rows, given), np.shape(axes)), axes)

    def dangles(found):
        angle = scale * np.stack(found[1], -1)
        return project(np.reshape(angle, np.shape(angles)), angles)

    return y, (parts, (daxes, None, dangles))


@rule(compiled.as_quat)
def _(quat: ArrayLike, canonical=False, *, scalar_first=False):
    y = np.asarray(compiled.as_quat(quat, canonical, scalar_first=scalar_first))

    def pullback(dy):
        dy = np.roll(dy, -1, -1) if scalar_first else dy
        return (project(signs(np.asarray(quat)) * dy if canonical else dy, quat),)

    return y, pullback


def signs(q):
    """Return by what a quaternion is multiplied to become canonical."""
    return canonical(q)[1]


@rule(compiled.as_matrix)
def _(quat: ArrayLike):
    y = np.asarray(compiled.as_matrix(quat))

    def pullback(dy):
        return (project(matrix_back(dy, np.asarray(quat)), quat),)

    return y, pullback


@rule(compiled.as_rotvec)
def _(quat: ArrayLike, degrees=False):
    y = np.asarray(compiled.as_rotvec(quat, degrees))

    def pullback(dy):
        dy = np.rad2deg(dy) if degrees else dy
        return (project(to_vector_back(dy, np.asarray(quat)), quat),)

    return y, pullback


@rule(compiled.as_mrp)
def _(quat: ArrayLike):
    y = np.asarray(compiled.as_mrp(quat))

    def pullback(dy):
        q = np.asarray(quat)
        sign = np.where(q[..., 3:] < 0, -1.0, 1.0)
        v, scale = q[..., :3], 1 + sign * q[..., 3:]
        dw = -dot(v, dy) / scale**2
        return (project(np.concatenate([sign * dy / scale, dw], -1), quat),)

    return y, pullback


@rule(compiled.as_euler)
def _(quat: ArrayLike, seq: str, degrees=False, suppress_warnings=False):
    y = np.asarray(compiled.as_euler(quat, seq, degrees, suppress_warnings))
    scale = np.pi / 180 if degrees else 1.0

    def pullback(dy):
        turns = Turns(basis(seq), scale * y, seq.islower())
        return project(angles_back(dy / scale, turns, np.asarray(quat)), quat), None

    return y, pullback


@rule(compiled.as_davenport, refuses={"axes": AXES})
def _(quat: ArrayLike, axes: ArrayLike, order: str, degrees=False, suppress_warnings=False):
    y = np.asarray(compiled.as_davenport(quat, axes, order, degrees, suppress_warnings))
    scale = np.pi / 180 if degrees else 1.0

    def pullback(dy):
        given = np.asarray(axes, float)
        units = given / np.sqrt(dot(given, given))
        turns = Turns(list(units), scale * y, order in ("e", "extrinsic"))
        return project(angles_back(dy / scale, turns, np.asarray(quat)), quat), None, None

    return y, pullback


def angles_back(dangles, turns, q):
    """Return the cotangent of a quaternion from that of its three angles.

    It is the pseudoinverse of the derivative of the quaternion by the angles.
    """
    units = np.eye(4)
    rows = [turns.cotangents(np.broadcast_to(e, q.shape))[0] for e in units]
    jacobian = np.stack([np.stack(row, -1) for row in rows], -2)  # of the quaternion's parts
    gram = np.swapaxes(jacobian, -1, -2) @ jacobian
    if np.any(np.abs(np.linalg.det(gram)) < 1e-16):
        raise np.linalg.LinAlgError(
            "angles in gimbal lock are not determined by the rotation, and have no derivative"
        )
    found = jacobian @ np.linalg.solve(gram, dangles[..., None])
    return np.sign(dot(turns.value(), q)) * found[..., 0]


@rule(compiled.inv)
def _(quat: ArrayLike):
    y = np.asarray(compiled.inv(quat))
    return y, lambda dy: (project(conjugated(dy), quat),)


@rule(compiled.magnitude)
def _(quat: ArrayLike):
    y = np.asarray(compiled.magnitude(quat))

    def pullback(dy):
        q, dy = np.asarray(quat), dy[..., None]
        v, w = q[..., :3], q[..., 3:]
        size = np.sqrt(dot(v, v))
        unit = v / np.where(size == 0, 1.0, size)
        dq = np.concatenate([unit * np.abs(w) * dy, -size * np.sign(w) * dy], -1)
        return (project(2 * dq / dot(q, q), quat),)

    return y, pullback


@rule(compiled.compose_quat)
def _(p: ArrayLike, q: ArrayLike):
    y = np.asarray(compiled.compose_quat(p, q))

    def dp(dy):
        return broadcast_back(product(dy, conjugated(np.asarray(q))), p)

    def dq(dy):
        return broadcast_back(product(conjugated(np.asarray(p)), dy), q)

    return y, (dp, dq)


@rule(compiled.apply)
def _(quat: ArrayLike, vectors: ArrayLike, inverse=False):
    y = np.asarray(compiled.apply(quat, vectors, inverse))

    def dquat(dy):
        v = np.asarray(vectors)
        left, right = (v, dy) if inverse else (dy, v)
        dm = left[..., :, None] * right[..., None, :]
        q = np.broadcast_to(np.asarray(quat), (*dm.shape[:-2], 4))
        return broadcast_back(matrix_back(dm, q), quat)

    def dvectors(dy):
        m = matrix_of(np.asarray(quat))
        m = m if inverse else np.swapaxes(m, -1, -2)
        return broadcast_back(np.sum(m * dy[..., None, :], -1), vectors)

    return y, (dquat, dvectors)


@rule(compiled.pow)
def _(quat: ArrayLike, n: ArrayLike):
    y = np.asarray(compiled.pow(quat, n))

    def shared(dy):
        r = np.asarray(compiled.as_rotvec(quat))
        return from_vector_back(dy, np.asarray(n) * r), r

    def dquat(found):
        return project(to_vector_back(np.asarray(n) * found[0], np.asarray(quat)), quat)

    def dn(found):
        return project(np.reshape(np.sum(found[0] * found[1]), np.shape(n)), n)

    return y, (shared, (dquat, dn))


def mean_back(dy, y, q, weights):
    """Return the cotangents of quaternions and weights from that of their mean.

    The mean is the eigenvector of the largest eigenvalue of the sum of `w q q^T`.
    """
    w = np.ones(len(q)) if weights is None else np.ravel(np.asarray(weights, float))
    values, vectors = np.linalg.eigh(np.einsum("k,ki,kj->ij", w, q, q))
    gaps = values[-1] - values[:-1]
    if gaps[-1] <= 1e-12 * values[-1]:
        raise np.linalg.LinAlgError("the mean of these rotations is not determined")
    others = vectors[:, :-1]
    z = others @ ((others.T @ dy) / gaps)
    along = q @ z
    at = q @ y
    return w[:, None] * (along[:, None] * y + at[:, None] * z), along * at


def mean_rule(quat, weights, axis):
    """Return the value of a mean and the function that pulls its cotangent back to both."""
    y = np.asarray(compiled.mean(quat, weights, axis))
    if axis not in (None, 0, -1, (0,), (-1,)):
        raise NotImplementedError("scipy.spatial.transform.Rotation.mean has no rule for this axis")

    def back(dy):
        found = mean_back(np.reshape(dy, 4), np.reshape(y, 4), np.asarray(quat), weights)
        return project(found[0], quat), found[1]

    return y, back


@rule(compiled.mean)
def _(quat: ArrayLike, *, weights=None, axis=None):
    y, back = mean_rule(quat, weights, axis)
    return y, lambda dy: back(dy)[:1]


@rule(compiled.mean)
def _(quat: ArrayLike, weights: object, axis=None):
    y, back = mean_rule(quat, weights, axis)

    def pullback(dy):
        dquat, dweights = back(dy)
        if weights is None:
            return dquat, None
        return dquat, project(np.reshape(dweights, np.shape(weights)), weights)

    return y, pullback


class Alignment:
    """Pull a cotangent back through the rotation that aligns vectors best.

    It is next to the matrix `sum of w a b^T` (the problem of Wahba).

    Arguments:
        a, b, weights: what SciPy is given.
        y: what it has found.
    """

    def __init__(self, a, b, weights, y):
        self.a, self.b = [np.reshape(np.asarray(x, float), (-1, 3)) for x in (a, b)]
        self.w = np.ones(len(self.a)) if weights is None else np.asarray(weights, float)
        self.q, self.rssd = np.reshape(np.asarray(y[0]), 4), y[1]
        if len(self.a) == 1 or np.any(np.isinf(self.w)):
            raise NotImplementedError(
                "scipy.spatial.transform.Rotation.align_vectors has a rule for several vectors "
                "with finite weights"
            )

    def pulled(self, dy):
        """Return the cotangents of both arrays and of the weights."""
        if len(dy) > 2 and dy[2] is not None:
            raise NotImplementedError(
                "the sensitivity that Rotation.align_vectors returns has no rule"
            )
        dq, drssd = dy[0], dy[1]
        a, b, w = self.a, self.b, self.w[:, None]
        r = matrix_of(self.q)
        dm = np.zeros((3, 3))
        if dq is not None:
            dr = from_rotation_matrix_back(np.reshape(dq, 4), r, self.q)
            dm = polar_back(dr, (w * a).T @ b)
        rest = 0.0 if drssd is None or self.rssd == 0 else drssd / self.rssd
        off = a - b @ r.T
        dw = np.sum(a * (b @ dm.T), 1) + rest * np.sum(off * off, 1) / 2
        return w * (b @ dm.T + rest * off), w * (a @ dm - rest * off @ r), dw


@rule(compiled.align_vectors)
def _(a: ArrayLike, b: ArrayLike, *, weights=None, return_sensitivity=False):
    y = compiled.align_vectors(a, b, weights, return_sensitivity)
    found = Alignment(a, b, weights, y)

    def pullback(dy):
        da, db, _ = found.pulled(dy)
        return project(np.reshape(da, np.shape(a)), a), project(np.reshape(db, np.shape(b)), b)

    return y, pullback


@rule(compiled.align_vectors)
def _(a: ArrayLike, b: ArrayLike, weights: object, return_sensitivity=False):
    y = compiled.align_vectors(a, b, weights, return_sensitivity)
    found = Alignment(a, b, weights, y)

    def pullback(dy):
        da, db, dw = found.pulled(dy)
        da, db = np.reshape(da, np.shape(a)), np.reshape(db, np.shape(b))
        return project(da, a), project(db, b), None if weights is None else project(dw, weights)

    return y, pullback
