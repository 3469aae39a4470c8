"""Gradients of gradients: a run inside a run, on a tape of two levels.

Read `cotangents` first (the two nodes of a value, and cotangents that are traced themselves), then
`tape` (the calls of the inner run, recorded on the outer tape too), `pullbacks` (the reverse of a
rule, on the outer tape), `run` (a function run so), `rules` (rules inside such a run), `gradients`
(the functions of the interface inside one), `tangents` (forward mode: the tangent of a call is the
transpose of its pullback), `linearized` (forward mode inside, for many directions).
"""
