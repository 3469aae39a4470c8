"""Rules for `scipy.spatial`.

`rotations` has what `Rotation` computes with, which is compiled; its methods are differentiated
through their source. `distances` has distances between many points, `neighbours` those that a tree
finds, and `hulls` the volume of a convex hull.
"""
