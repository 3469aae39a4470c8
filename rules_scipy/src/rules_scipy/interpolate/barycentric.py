"""Barycentric formulas, of polynomials and of rational functions.

Through a node SciPy replaces the formula by the value there, which has no slope. Here the node next
to a place is taken apart: the formula has no pole there, and holds with all its derivatives.
"""

import numpy as np
from scipy import interpolate as si
from scipy.interpolate import _bary_rational

from rules_scipy.shared.interpolation.instances import tangent_of
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.interpolate.barycentric")
Given = Numeric | list | tuple


def pull_barycentric(z, nodes, values, weights, dy):
    """Return the cotangents of places, nodes, values and weights.

    Arguments:
        z: the places, in a vector.
        nodes, values, weights: those of the formula; the values in columns.
        dy: the cotangents of what it gives, for each place a row.
    """
    z, nodes, values, weights = (np.conj(x) for x in (z, nodes, values, weights))
    near = np.argmin(np.abs(z[:, None] - nodes), axis=1)
    others = np.arange(len(nodes)) != near[:, None]
    off = z - nodes[near]
    apart = np.where(others, z[:, None] - nodes, 1.0)
    parts = np.where(others, weights / apart, 0.0)
    above, below = parts @ values, np.sum(parts, axis=1)
    scale = weights[near] + off * below
    y = (weights[near][:, None] * values[near] + off[:, None] * above) / scale[:, None]
    u = dy / scale[:, None]
    rise = above - y * below[:, None]  # the derivative by `off`, times `scale`
    doff = np.sum(u * rise, axis=1)
    dparts = off[:, None] * (u @ values.T - np.sum(u * y, axis=1)[:, None])
    dweights = np.sum(np.where(others, dparts / apart, 0.0), axis=0)
    dapart = np.where(others, -dparts * parts / apart, 0.0)
    dvalues = (off[:, None] * parts).T @ u
    at_near = np.zeros((len(nodes), u.shape[1]), u.dtype)
    np.add.at(at_near, near, u * weights[near][:, None])
    of_weights, of_nodes = np.zeros(len(nodes), u.dtype), np.zeros(len(nodes), u.dtype)
    np.add.at(of_weights, near, np.sum(u * (values[near] - y), axis=1))
    np.add.at(of_nodes, near, -doff)
    dz = doff + np.sum(dapart, axis=1)
    return dz, of_nodes - np.sum(dapart, axis=0), at_near + dvalues, of_weights + dweights


@rule(si.BarycentricInterpolator._evaluate)
def _(self: si.BarycentricInterpolator, x: Array):
    y = self._evaluate(x)

    def pullback(dy):
        nodes, values, weights = self.xi, self.yi, self.wi
        rows = np.reshape(dy, (x.size, self.r))
        dx, dnodes, dvalues, dweights = pull_barycentric(np.ravel(x), nodes, values, weights, rows)
        dself = tangent_of(
            self,
            xi=project(dnodes, nodes),
            yi=project(dvalues, values),
            wi=project(dweights, weights),
        )
        return dself, project(dx.reshape(x.shape), x)

    return y, pullback


@rule.of_instances
def _(made: _bary_rational._BarycentricRational, z: Given):
    y = made(z)

    def pullback(dy):
        nodes, values, weights = made._support_points, made._support_values, made.weights
        columns = values.reshape(len(values), int(np.prod(values.shape[1:])))
        rows = np.moveaxis(dy, made._axis, 0) if np.ndim(z) else dy
        rows = np.reshape(rows, (np.size(z), columns.shape[1]))
        dz, dnodes, dvalues, dweights = pull_barycentric(
            np.ravel(np.asarray(z)), nodes, columns, weights, rows
        )
        dmade = tangent_of(
            made,
            support_points=project(dnodes, nodes),
            support_values=project(dvalues.reshape(values.shape), values),
            weights=project(dweights, weights),
        )
        return dmade, project(dz.reshape(np.shape(z)), z)

    return y, pullback
