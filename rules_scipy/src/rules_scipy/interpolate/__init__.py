"""Rules for `scipy.interpolate`: splines, piecewise polynomials, grids and scattered data.

An object that SciPy makes has a cotangent of the arrays that it holds: knots or breakpoints, and
coefficients. `polynomials` and `splines` are for those of one variable, `fitpack` for the older
functions and classes, `grids` for data on grids, and `scattered` for data anywhere. Interpolators
that SciPy writes in Python (`CubicSpline`, `PchipInterpolator`, `interp1d`, ...) need no more.
"""
