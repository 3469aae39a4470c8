"""Passes on typed code: copies, dead code, factors, signs, residuals, hoisting, buffers, finite.

`_specialize.assemble` runs them in their order. Read `writes` first, which settles what writes in
place require, and `residuals`, which saves what the reverse pass reads: without them the code is
not right. `dead_code`, `scale_factors`, `signs`, `hoist`, `buffer_reuse` and `finiteness` only
make it shorter and faster.
"""
