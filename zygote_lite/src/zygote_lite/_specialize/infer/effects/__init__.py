"""Effects that can be seen from outside: output waits for the end, draws are taken back.

Read in this order: `waiting` (what the code notes its effects in), `output` (texts, print
and logging) and `draws` (random generators). The effects of one run are in `typed.effects`.
"""
