"""What the rules of several libraries share; no rule is declared here.

`axes` puts reduced axes back and decides the dtype and the sign of zeros in cotangents: most rules
of arrays need it. `nesting` gives a list of numbers a cotangent that is a list. `matrices` takes
stacks of matrices apart and puts them together, for linear algebra.
`constants` has the numbers of the formula sheets, and `forward` declares forward rules of functions
that are linear in an argument.

`axes` is the lowest, `matrices` is made of it; the others stand alone.
"""
