"""Containers that the code makes, and changes, as it runs.

Read in this order: `containers` (what is held), `items` (read, and written), `inputs` (containers
that are given) and `changes` (of these, taken back where the tape takes over), `new_lists` (made of
others), `lists` and `dicts` (their methods), `folds` (what only reads them), `makers` (of other
classes), `methods` and `calls` (what functions do with them).
"""
