"""Rules for `scipy.spatial`.

`rotations` and `representations` have what `Rotation` computes with, which is compiled; its methods
are differentiated through their source. The first composes and applies rotations, the second makes
them from matrices, vectors and angles, and gives these back. `distances` has distances between many
points, `neighbours` those that a tree finds, and `hulls` the volume of a convex hull.
"""
