"""Rules for `numpy.linalg`, and for what else is made of matrices.

Read `solve` first: inverses, determinants and linear systems, least squares among them, whose
cotangents `chains` (powers and products of many matrices) and `norms` (condition numbers) use.
`decompositions` and `eigenvalues` follow; both say at the top where a gradient does not exist, and
refuse it there. Each formula is derived in the docstring of its module, with its source.

All work on stacks of matrices, real and complex; `rules_base.shared.matrices` has the parts.
Products (`matmul`, `einsum`, `np.linalg.outer`) are in the folder above.
"""
