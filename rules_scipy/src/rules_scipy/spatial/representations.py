"""Other representations of the quaternions of a `Rotation`: matrices, vectors and angles."""

import numpy as np
from scipy.spatial.transform import _rotation_cy as compiled

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

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.spatial.representations")
ArrayLike = Numeric | list | tuple
AXES = "no rule by the axes is written yet"


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
        return (project(found if assume_valid else polar_back(found, m, near), matrix),)

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
