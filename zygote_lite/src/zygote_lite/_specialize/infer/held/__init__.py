"""Containers that the code makes, and changes, as it runs.

Read in this order: `containers` (what is held, and its items), `inputs` (those that are given),
`new_lists` (made of others), `lists` and `dicts` (their methods), `folds` (what only reads them),
`makers` (of other classes), `methods` and `calls` (what functions do with them).
"""
