"""Rules for `scipy.sparse.csgraph`: what tells of the graph alone is constant."""
