"""Rules for `scipy.linalg`.

The options `overwrite_a` and the like allow LAPACK to overwrite an argument. They are taken and
not made use of: the pullback reads the arguments. Sources: Giles (2008), "Collected matrix
derivative results"; Murray (2016) for the Cholesky decomposition; Higham (2008), "Functions of
matrices".
"""
