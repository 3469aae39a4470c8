"""What the rules of several sections share; no rule is declared here.

`outputs` declares elementwise functions with several results, `methods` those of distributions,
`refusals` has the reasons for derivatives that are not known, `quadrature` the nodes of an integral
over a half-line, `panels` those of any integral, found as they are needed, and `triangles` and
`wrappers` call LAPACK. `stacks` extends a rule for one matrix to stacks.
"""
