"""Gradients of gradients: a run inside a run, on a tape of two levels.

Read `pair` first (the two numbers of a value), then `tape` (the calls of the inner run, recorded on
the outer tape too), `pullbacks` (the reverse of a rule, on the outer tape), `cotangents`
(cotangents that are traced themselves) and `store`, `run` (a function run so), `rules` (rules
inside such a run), `gradients` (the functions of the interface inside one).
"""
