"""The reverse pass: typed code run backwards, node by node.

Read `backward` first (the reverse of each kind of node), then `stores` (that of writes to items)
and `accumulate` (cotangents and who owns their buffers). `dependence` tells whether what they have
written may be run backwards again.
"""
