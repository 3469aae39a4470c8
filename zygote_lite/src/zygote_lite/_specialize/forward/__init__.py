"""Forward mode: after each node of typed code, the one that computes the tangent of its value.

Read `dual` first (nodes, branches, loops, writes, attempts), then `rules` (the tangent of one
operation), `lists`, and `transposed` (what has no forward rule). `_specialize/tangents.py` begins.
"""
