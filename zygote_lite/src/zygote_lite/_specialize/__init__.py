"""Transformed code: what is emitted for one function and the types of its arguments.

The function is run on abstract values; calls are inlined, rules are inlined from their source, the
reverse pass is derived from the structure of the code, and readable Python is printed. It is an
optimizer and may always decline: the tape then answers, and gives the same result.

Read in the order of the stages, which `driver` runs (`tangents` for forward mode): `typed` (the
typed IR), `rules` (rules in it), `normalize` (code with one exit), `infer` (from the user's code to
typed code), `recursion` (functions that call themselves), `reverse` (the reverse pass) or `forward`
(the tangent of each value after it), `passes` (what is left out, moved or reused; `assemble` runs
them), `text` (typed code as Python), `numba` (the same for a compiler), `derived` (gradients that
the code takes itself). `attempts` tries the ways to take lists.

`cache` decides when code is made and kept, with `changed`, which finds what has changed outside;
`trials` when it is worth entering, `guards` when it may answer; `entry`, with `entry_text` (the
text of the guards) and `compiled_text` (code under the user's lines), puts them together, and
`quiet` is the context that code runs in. `callee` and
`handed` answer calls inside recorded code, and `jitted` knows the functions that `jit` made. In the
modes, `watch` notes or compares answers, by `compare` and `differences`.

Comes from below: the lowered code (`_ir`). Goes above: an `enter` function for each specialization.
"""
