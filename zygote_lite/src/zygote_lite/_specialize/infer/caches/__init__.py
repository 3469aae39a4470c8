"""Functions under `lru_cache` and `cache`.

Read `from_outside` (when the code may call one as it is, ask it at entry, or follow the function
that it wraps), then `made_inside` (one that the function makes, whose cache is a dict of the code).
"""
