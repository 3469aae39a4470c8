"""Lists, dicts, sets, deques: their methods, and where the cotangents of their entries are.

Read `lists` first, then `dicts` (with `keys`, which says which key is meant, and `mappingproxy`,
which redirects calls to the dict that is shown), `sets` and `deques`.
"""
