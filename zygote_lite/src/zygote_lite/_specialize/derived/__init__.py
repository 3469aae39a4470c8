"""Gradients inside code that is transformed: their typed code is interpreted again.

Read `entry` first (the values of the outer code in the inner one), then `adjoint` (its forward and
its reverse pass) and `lowered` (typed code as lowered code), which is interpreted on the values of
the outer code. So the outer code holds the inner gradient as if the user had written it
by hand, and its own reverse pass goes through that like through any other code. The two levels
cannot be confused: each has its own values, and captured variables are inputs of the inner one.
"""
