"""What an array and its shadow hold, statement by statement.

On the left is the memory of an array, to which the statements write, from top to bottom. On the
right is its shadow, which the reverse pass fills from bottom to top: the gradient of the result by
what the array holds in that line. A write keeps what it overwrites; the reverse pass puts it back.

    python examples/memory.py memory.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from zygote_lite import grad


def double(y):
    v = y[1:3]
    v *= 2.0


def multiply(y):
    y[0] *= y[2]


def follow(steps, result, x):
    """Return for each line what the array holds, and the gradient of the result by that."""
    y, found = x.copy(), []
    for k in range(len(steps) + 1):

        def rest(y, k=k):
            y = y.copy()
            for step in steps[k:]:
                step(y)
            return result(y)

        found.append((y.copy(), grad(rest)(y)))
        for step in steps[k : k + 1]:
            step(y)
    return found


def draw(steps, result, x, texts, names, path):
    """Draw both columns. Texts say what each line does, and names which entries have which."""
    found, n = follow([*steps], result, x), len(x)
    figure = Figure(figsize=(5.2, 0.6 + 0.75 * len(found)), dpi=80, layout="constrained")
    axes = figure.subplots()
    for row, (text, columns) in enumerate(zip(texts, found, strict=True)):
        y = -1.4 * row
        for left, values, color in zip((0, n + 5), columns, ("#dbe9f6", "#fdebd0"), strict=True):
            for i, value in enumerate(values):
                axes.add_patch(Rectangle((left + i, y), 1, 0.7, fc=color, ec="gray"))
                axes.text(left + i + 0.5, y + 0.35, f"{value:g}", ha="center", va="center")
            for name, entries in names.items() if row else ():
                first, *_, last = range(n)[entries]
                axes.plot([left + first + 0.1, left + last + 0.9], [y - 0.12] * 2, "C3", lw=1.5)
                label = f"d{name}".replace("= ", "= d") if left else name
                middle = left + (first + last + 1) / 2
                axes.text(middle, y - 0.2, label, color="C3", ha="center", va="top", fontsize=9)
        kept = found[row - 1][0][columns[0] != found[row - 1][0]] if row else []
        more = f"\n(keeps {', '.join(f'{number:g}' for number in kept)})" if row else ""
        axes.text(n + 2.5, y + 0.35, text + more, ha="center", va="center", family="monospace")
        print(text, *(values.tolist() for values in columns), *kept)
    axes.text(n / 2, 1, "the array $y$, downwards $\\downarrow$", ha="center")
    axes.text(1.5 * n + 5, 1, "its shadow $dy$, upwards $\\uparrow$", ha="center")
    axes.set(xlim=(-0.2, 2 * n + 5.2), ylim=(y - 0.8, 1.5))
    axes.axis("off")
    figure.savefig(path, format="png")


def main(path="memory.png"):
    texts = "y = x.copy()", "v = y[1:3]\nv *= 2", "y[0] *= v[1]"
    x = np.array([1.0, 2.0, 3.0, 4.0])
    draw([double, multiply], np.sum, x, texts, {"v": slice(1, 3)}, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
