"""Gains that place poles: with one input there is one gain, which moves with the system.

A pole is an eigenvalue of `A - b K`, and moves as `w (dA - db K - b dK) v` says, with its left and
right eigenvectors `w v == 1`.
"""

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.solvers import parts_of, solver
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.placement")


@solver(rule, ss.place_poles, by=("A", "B", "poles"), with_ad=False)
def _(y, given):
    a, b, poles = (given[name] for name in ("A", "B", "poles"))
    if np.shape(b)[1] != 1:
        raise NotImplementedError(
            "scipy.signal.place_poles has a rule for one input, a B of one column: with several, "
            "many gains place the poles, and a search chooses one of them; let A, B and poles be "
            "constant, or choose a gain by scipy.signal.place_poles for each input in turn"
        )
    gain = y.gain_matrix

    def pullback(dy):
        (dgain,) = parts_of(dy, ss.place_poles, ("gain_matrix",))
        if dgain is None:
            return {}
        found, v = np.linalg.eig(a - b @ gain)
        at = np.argmin(np.abs(found[:, None] - np.asarray(poles)), 1)
        w = np.linalg.inv(v)
        weights = (w @ dgain[0]) / (w @ b)[:, 0]
        left = weights[:, None] * w
        dpoles = np.zeros(len(found), complex)
        dpoles[at] = -np.conj(weights)
        return {
            "A": project(left.T @ v.T, a),
            "B": project(-left.T @ (gain @ v).T, b),
            "poles": project(dpoles, poles),
        }

    return pullback
