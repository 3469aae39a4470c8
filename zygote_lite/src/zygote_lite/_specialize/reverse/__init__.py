"""The reverse pass: typed code run backwards, node by node.

Read `ends` first (where it starts, and which gradients it ends in), then `backward` (the reverse of
each kind of node), `stores` (that of writes to items), `accumulate` (cotangents and who owns their
buffers) and `powers` (one contribution for a factor that stands in a product several times).
`dependence` tells whether what they have written may be run backwards again.
"""
