"""The reverse pass: typed code run backwards, node by node.

Read `backward` first (the reverse of each kind of node), then `accumulate` (cotangents and who owns
their buffers).
"""
