"""Rules for `scipy.optimize`: solutions, which move with the data as their equation says.

What a solver does on its way is not differentiated. `roots` is for functions of one number,
`systems` for several, `minima` for all that minimizes, `fits` for least squares, and `programs` for
linear problems with bounds. `shared.implicit` has the theorem.
"""
