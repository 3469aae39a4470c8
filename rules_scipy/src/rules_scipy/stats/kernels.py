"""Estimates of densities by Gaussian kernels, which `gaussian_kde` computes in Cython."""

import numpy as np
from scipy.stats import _stats

from rules_scipy.shared.linear.matrices import transpose
from rulescore import Array, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.kernels")


@rule(_stats.gaussian_kernel_estimate["double"])
def _(points: Array, values: Array, xi: Array, cho_cov: Array, dtype: type):
    y = _stats.gaussian_kernel_estimate["double"](points, values, xi, cho_cov, dtype)
    return y, pullback_of(points, values, xi, cho_cov, lambda weights: weights)


@rule(_stats.gaussian_kernel_estimate_log["double"])
def _(points: Array, values: Array, xi: Array, cho_cov: Array, dtype: type):
    y = _stats.gaussian_kernel_estimate_log["double"](points, values, xi, cho_cov, dtype)
    return y, pullback_of(points, values, xi, cho_cov, lambda weights: weights / np.exp(y).T)


def pullback_of(points, values, xi, cho_cov, of_value):
    """Return the pullback of an estimate, or of its logarithm.

    Arguments:
        points, values: where the kernels are, in rows, and their weights, in columns.
        xi: where the estimate is asked for, in rows.
        cho_cov: the lower triangle of the covariance of a kernel.
        of_value: what turns derivatives of the estimate into those of the value.
    """
    factor = np.tril(cho_cov)
    white = np.linalg.solve(factor, transpose(points)), np.linalg.solve(factor, transpose(xi))
    apart = white[1][:, None, :] - white[0][:, :, None]  # by axis, kernel, and place
    log = -np.sum(apart**2, axis=0) / 2 - len(factor) / 2 * np.log(2 * np.pi)
    kernels = np.exp(log - np.sum(np.log(np.diagonal(factor))))

    def pullback(dy):
        weights = of_value(dy.T[:, None, :] * kernels)  # by estimate, kernel, and place
        dvalues = np.sum(weights, axis=2).T
        weights = np.einsum("enp,ne->np", weights, values)
        pulled = apart * weights
        dwhite = np.sum(pulled, axis=2), -np.sum(pulled, axis=1)
        dpoints, dxi = (np.linalg.solve(factor.T, d) for d in dwhite)
        dfactor = np.einsum("anp,bnp->ab", np.tensordot(np.linalg.inv(factor).T, pulled, 1), apart)
        dfactor = dfactor - np.diag(np.sum(weights) / np.diagonal(factor))
        return (
            project(dpoints.T, points),
            project(dvalues, values),
            project(dxi.T, xi),
            project(np.tril(dfactor), cho_cov),
            None,
        )

    return pullback
