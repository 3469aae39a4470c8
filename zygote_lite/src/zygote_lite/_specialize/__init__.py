"""Transformed code: what is emitted for one function and the types of its arguments.

The function is run on abstract values; calls are inlined, rules are inlined from their source, the
reverse pass is derived from the structure of the code, and readable Python is printed. It is an
optimizer and may always decline: the tape then answers, and gives the same result.

Read in the order of the stages, which `driver` runs: `typed` (the typed IR), `normalize` (code with
one exit), `infer` (from the user's code to typed code), `reverse` (the reverse pass) or `forward`
(the tangent of each value after it), `passes` (what is left out, moved or reused), `text` (typed
code as Python), `numba` (the same for a compiler), `derived` (gradients that the code takes
itself). `attempts` tries the ways to take lists; `cache` decides when code is made and kept,
`guards` when it may answer; `entry`, with the text of `entry_text`, puts both together. `callee`
answers the calls inside recorded code.

Comes from below: the lowered code (`_ir`). Goes above: an `enter` function for each specialization.
"""
