"""Forward mode: after each node of typed code, the one that computes the tangent of its value.

Read `dual` first (nodes, branches, loops, writes, attempts), then `rules` (the tangent of one
operation), `lists`, `held` (containers that the code changes) with `beside` (what it does with
their tangents as it runs), and `transposed` (what has no forward rule). `_specialize/tangents.py`
begins.
"""
