"""What the rules of several sections share; no rule is declared here.

Declarations: `outputs` (elementwise functions with several results), `methods` (those of
distributions), `batches` (batching rules), `solvers` (functions that take a function), `refusals`
(derivatives that are not known) and `reasons` (why functions have no rule).

Methods: `implicit` has the implicit function theorem, and `minimum` what it says of minima;
`quadrature` integrals over a half-line, and `panels` any integral, by nodes that are found as they
are needed; `expansions` the series of formulas that cancel, `flat` cotangents as vectors, `held`
factorizations that a pullback solves with again, `transforms` adjoints of Fourier and cosine
transforms. Functions: `incomplete`, `eigenvalues`, `kolmogorov`, `noncentral`, `scaled_chi`,
`variances`. Of the folders, `linear` has what rules for matrices need; `interpolation`, `pixels`,
`points`, `signals` and `steps` each serve one section.
"""
