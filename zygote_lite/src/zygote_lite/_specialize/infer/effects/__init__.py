"""Effects that can be seen from outside: output waits for the end, draws are taken back.

Read in this order: `sought` (effects that a function may have), `waiting` (what the code notes its
effects in), `output` (texts, print and logging), `attributes` (those of given objects that are
assigned), `variables` (those of functions around and of modules that are), `collectors` (lists,
dicts and sets that the code puts into), `asked` (what it asks them), `outside_arrays` (arrays that
it writes to) and `draws` (random generators). The effects of one run are in `typed.effects`.
"""
