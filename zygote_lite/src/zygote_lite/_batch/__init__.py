"""A function of one entry, run once for a whole batch: what `vmap` does where it can.

Read `mapped` first (from batches to tracers, and back), then `tracers` (what stands for an entry
while the function runs), `run` (which resolves each of its calls, in one order), `structure` (what
does not compute: containers, attributes, types), `rules` (which applies batching rules), `around`
(which runs what is left on the tape around) and `derivatives` (those that are taken inside).

Whatever is not known to be right for a whole batch, or may have an effect, is refused before it
happens (`NotBatched`), and `vmap` runs a loop.

Comes from below: the recording code of a function, whose calls all go through a tape.
"""
