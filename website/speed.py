"""Draw the table of `docs/benchmarks.md`: `python -m website.speed docs/pictures/speed.png`."""

import re
import sys
from pathlib import Path

from matplotlib.figure import Figure

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SHOWN = {"zygote_lite": "C0o", "compiled": "C2D", "autograd": "C1s", "torch": "C3^", "jax": "C4v"}


def multiples():
    """Return the workloads, and for each engine its multiples of the gradient by hand, or None."""
    text = PAGE.read_text(encoding="utf-8")
    header, _, *rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in re.findall(r"(?m)^\|.*\|$", text)
    ]
    columns = {
        name: [None if cell == "-" else float(cell) for cell in column]
        for name, column in zip(header[2:], list(zip(*rows, strict=True))[2:], strict=True)
    }
    return [row[0] for row in rows], columns


def draw(path):
    """Write the picture to `path`."""
    names, columns = multiples()
    figure = Figure(figsize=(8.5, 4.2), dpi=80, layout="constrained")
    axes = figure.subplots()
    axes.axvline(1.0, color="gray", lw=1)
    for engine, style in SHOWN.items():
        found = [(x, i) for i, x in enumerate(columns[engine]) if x is not None]
        axes.semilogx(*zip(*found, strict=True), style, label=engine, ms=6, alpha=0.8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("time of value and gradient, as a multiple of the gradient written by hand")
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, 1.12), ncol=len(SHOWN), frameon=False)
    figure.savefig(path, format="png")


if __name__ == "__main__":
    draw(sys.argv[1])
