"""Lists, dicts, sets, deques: their methods, and where the cotangents of their entries are.

`keys` says which key of a dict is meant; `mappingproxy` redirects calls to the dict that is shown.
"""
