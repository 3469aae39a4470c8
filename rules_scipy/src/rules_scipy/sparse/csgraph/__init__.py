"""Rules for `scipy.sparse.csgraph`: which path or tree is chosen is held fixed."""
