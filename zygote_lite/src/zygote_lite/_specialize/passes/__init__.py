"""Passes on typed code: dead-code elimination, residuals, hoisting, reuse of buffers.

`driver` runs them in their order; each may be left out and the code is still right.
"""
