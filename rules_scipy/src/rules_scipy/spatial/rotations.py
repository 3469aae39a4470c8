"""What `scipy.spatial.transform.Rotation` does with rotations, which are arrays of quaternions."""

import numpy as np
from scipy.spatial import _geometric_slerp as sg
from scipy.spatial.transform import _rotation_cy as compiled

from rules_scipy.shared.points.metrics import broadcast_back
from rules_scipy.shared.points.quaternions import (
    conjugated,
    dot,
    from_rotation_matrix_back,
    from_vector_back,
    matrix_back,
    matrix_of,
    polar_back,
    product,
    refuse_undetermined,
    to_vector_back,
)
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.spatial.rotations")
ArrayLike = Numeric | list | tuple
rule.constant(compiled.identity, compiled.approx_equal, refuse_undetermined)


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
        turned = np.asarray(n) * r
        # SciPy leaves the sign of a quaternion for 1 and -1, and chooses it for others
        sign = np.sign(dot(np.asarray(compiled.from_rotvec(turned)), y))
        return from_vector_back(sign * dy, turned), r

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
    sums = np.einsum("k,ki,kj->ij", w, q, q)
    refuse_several_means(sums)
    value = y @ sums @ y
    beside = value * np.eye(4) - sums + value * y[:, None] * y  # as large along the mean itself
    z = np.linalg.solve(beside, dy - y * (y @ dy))
    along = q @ z
    at = q @ y
    return w[:, None] * (along[:, None] * y + at[:, None] * z), along * at


def refuse_several_means(sums):
    """Raise `LinAlgError` where the largest eigenvalue is not alone."""
    values = np.linalg.eigvalsh(sums)
    if values[-1] - values[-2] <= 1e-12 * values[-1]:
        raise np.linalg.LinAlgError("the mean of these rotations is not determined")


rule.constant(refuse_several_means)


def mean_rule(quat, weights, axis):
    """Return the value of a mean and the function that pulls its cotangent back to both."""
    y = np.asarray(compiled.mean(quat, weights, axis))
    if axis not in (None, 0, -1, (0,), (-1,)):
        raise NotImplementedError(
            "scipy.spatial.transform.Rotation.mean has no rule for this axis: take the mean "
            "over the first axis"
        )

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
                "with finite weights: give large finite weights in the place of infinite ones"
            )

    def pulled(self, dy):
        """Return the cotangents of both arrays and of the weights."""
        if len(dy) > 2 and dy[2] is not None:
            raise NotImplementedError(
                "the sensitivity that Rotation.align_vectors returns has no rule: let it be "
                "constant (`stop_gradient`)"
            )
        dq, drssd = dy[0], dy[1]
        a, b, w = self.a, self.b, self.w[:, None]
        r = matrix_of(self.q)
        dm = np.zeros((3, 3))
        if dq is not None:
            dr = from_rotation_matrix_back(np.reshape(dq, 4), r, self.q)
            dm = polar_back(dr, (w * a).T @ b, r)
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


@rule(sg.geometric_slerp)
def _(start: ArrayLike, end: ArrayLike, t: ArrayLike, tol=1e-7, *, ad):
    y = sg.geometric_slerp(start, end, t, tol)
    a, b, times = np.asarray(start, float), np.asarray(end, float), np.ravel(np.asarray(t, float))
    if np.array_equal(a, b):
        back = on_one_point(a, b, times)
    else:
        back = ad(sg._geometric_slerp, a, b, times)[1]

    def pullback(dy):
        _, da, db, dt = back(np.reshape(dy, (len(times), len(a))))
        return project(da, start), project(db, end), project(np.reshape(dt, np.shape(t)), t)

    return y, pullback


def on_one_point(a, b, t):
    """Return the pullback of an arc between points that are equal, which SciPy returns at once.

    A place is `f(1 - t) * a + f(t) * b`, where `f(t) = sin(t * angle) / sin(angle)`.
    """

    def back(dy):
        to_a, to_b = dy @ a, dy @ b
        dcosine = -np.sum((1 - t) * (1 - (1 - t) ** 2) * to_a + t * (1 - t**2) * to_b) / 3
        return None, (1 - t) @ dy + dcosine * b, t @ dy + dcosine * a, to_b - to_a

    return back
