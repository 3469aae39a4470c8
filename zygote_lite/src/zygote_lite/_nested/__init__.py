"""Gradients of gradients: a run inside a run, on a tape of two levels.

Read `tape` first (the calls of the inner run, recorded on the outer tape too), then `cotangents`
(cotangents that are traced themselves), `rules` (rules and functions inside such a run).
"""
