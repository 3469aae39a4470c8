"""The graph of a neuron: values that remember how they were made, and their gradients.

`zygote_lite.value` is a second engine on the same rules: scalars, in the manner of micrograd. Each
box has an operation, its value, and the gradient of the last value by it.

    python examples/value_graph.py value_graph.png
"""

import sys

from matplotlib.figure import Figure

from zygote_lite.value import backward, buildgraph, tanh, value


def neuron():
    """Return the value of a neuron with two inputs, and its gradients."""
    x1, x2, w1, w2, b = map(value, (2.0, 0.5, -3.0, 1.0, 6.4))
    y = tanh(x1 * w1 + x2 * w2 + b)
    backward(y)
    return y


def places(nodes, depth):
    """Return a place for each value: its depth from the right, and a row of its own in a column."""
    rows, found = {}, {}
    for node, d in zip(reversed(nodes), reversed(depth), strict=True):
        rows[d] = rows.get(d, 0) + 1
        found[id(node)] = -d, -rows[d]
    return {i: (x, y + rows[-x] / 2) for i, (x, y) in found.items()}


def main(path="value_graph.png"):
    nodes, depth = buildgraph(neuron())
    at = places(nodes, depth)
    figure = Figure(figsize=(6, 2.9), dpi=120, layout="constrained")
    axes = figure.subplots()
    axes.axis("off")
    for node in nodes:
        x, y = at[id(node)]
        color = "#dbe9f6" if node.prev else "#fdebd0"
        text = f"{node.op.strip() or 'given'}\n{node.data:.3g}\ngradient {node.grad:.3g}"
        box = {"boxstyle": "round", "fc": color, "ec": "gray"}
        axes.text(x, y, text, ha="center", va="center", fontsize=8, bbox=box)
        for before in node.prev:
            arrow = {"arrowstyle": "->", "color": "gray", "shrinkA": 30, "shrinkB": 30}
            axes.annotate("", (x, y), at[id(before)], arrowprops=arrow)
        print(text.replace("\n", ", "))
    axes.set(xlim=(-max(depth) - 0.6, -0.4), ylim=(-2.2, 1.8))
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
