"""Lists, dicts, sets, deques: their methods, and where the cotangents of their entries are."""
