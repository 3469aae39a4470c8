"""A function of one entry, run once for a whole batch: what `vmap` does where it can.

`tracers` has what stands for an entry while the function runs; `run` resolves each of its calls, in
one order; `structure` has what does not compute (containers, attributes, types), `rules` applies
batching rules, `around` runs what is left on the tape around, and `derivatives` answers `grad` and
its kin inside. Whatever is not known to be right for a whole batch, or may have an effect, is
refused before it happens (`NotBatched`), and `vmap` runs a loop.

Comes from below: the recording code of a function, whose calls all go through a tape.
"""
