"""What the rules of several sections share; no rule is declared here.

`outputs` declares elementwise functions with several results, `methods` those of distributions,
`refusals` has the reasons for derivatives that are not known, `reasons` records why functions have
no rule, `quadrature` has the nodes of an integral over a half-line, and `panels` those of any
integral, found as they are needed. In `linear`, `triangles` and `wrappers` call LAPACK, and
`stacks` extends a rule for one matrix to stacks.
"""
