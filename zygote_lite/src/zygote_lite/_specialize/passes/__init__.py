"""Passes on typed code: dead-code elimination, residuals, hoisting, reuse of buffers.

`_specialize.assemble` runs them in their order. Read `finish` first: it settles what writes in
place require and saves the residuals, without which the code is not right. `hoist` and
`buffer_reuse` only make it faster.
"""
