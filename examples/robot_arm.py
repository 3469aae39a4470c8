"""A robot arm that follows a curve: inverse kinematics by the Jacobian of its tip.

The arm has five joints, and the curve two dimensions, so that many angles reach a point. Each step
solves for the smallest change of the angles that brings the tip nearer (Newton's method with the
pseudoinverse of the Jacobian).

    python examples/robot_arm.py robot_arm.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from zygote_lite import jacobian

LENGTHS = np.array([1.0, 0.8, 0.6, 0.5, 0.3])


def joints(angles):
    """Return the places of all joints; each angle is relative to the link before."""
    places = np.zeros((len(angles) + 1, 2))
    heading = 0.0
    for i in range(len(angles)):
        heading = heading + angles[i]
        places[i + 1, 0] = places[i, 0] + LENGTHS[i] * np.cos(heading)
        places[i + 1, 1] = places[i, 1] + LENGTHS[i] * np.sin(heading)
    return places


def tip(angles):
    return joints(angles)[-1]


def reach(angles, target, steps=4):
    """Return angles that bring the tip to a target."""
    for _ in range(steps):
        change = np.linalg.pinv(jacobian(tip)(angles)) @ (target - tip(angles))
        angles = angles + change
    return angles


def curve(n=40):
    """Return points of an eight, one after the other."""
    t = np.linspace(0.0, 2 * np.pi, n)
    return np.stack([1.6 + 0.7 * np.sin(t), 1.0 + 0.6 * np.sin(2 * t)], axis=1)


def follow(points):
    """Return the angles at each point."""
    angles, all_angles = np.full(5, 0.4), []
    for point in points:
        angles = reach(angles, point)
        all_angles.append(angles)
    return np.array(all_angles)


def main(path="robot_arm.png"):
    points = curve()
    angles = follow(points)
    distance = max(np.linalg.norm(tip(a) - p) for a, p in zip(angles, points, strict=True))
    print(f"largest distance from the curve: {distance:.0e}")
    figure = Figure(figsize=(6, 2.8), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(*points.T, "C1", lw=2)
    for i, a in enumerate(angles[::3]):
        left.plot(*joints(a).T, "o-", color="C0", alpha=0.15 + 0.05 * i, ms=3)
    left.set(title="the arm on its way", aspect="equal")
    right.plot(angles)
    right.set(title="angles of the joints", xlabel="point")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
