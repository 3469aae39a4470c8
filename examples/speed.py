"""The table of the benchmarks, drawn: value and gradient, beside the gradient by hand.

    python examples/speed.py speed.png

It reads `docs/benchmarks.md`, which says how the figures were measured.
"""

import re
import sys
from pathlib import Path

from matplotlib.figure import Figure

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SHOWN = {"zygote_lite": "C0o", "compiled": "C2D", "autograd": "C1s", "torch": "C3^", "jax": "C4v"}


def multiples():
    """Return the workloads, and for each engine its multiples of the gradient by hand, or None."""
    header, _, *rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in re.findall(r"(?m)^\|.*\|$", PAGE.read_text(encoding="utf-8"))
    ]
    columns = {
        name: [None if cell == "-" else float(cell) for cell in column]
        for name, column in zip(header[2:], list(zip(*rows, strict=True))[2:], strict=True)
    }
    return [row[0] for row in rows], columns


def main(path="speed.png"):
    names, columns = multiples()
    figure = Figure(figsize=(6, 4), dpi=120, layout="constrained")
    axes = figure.subplots()
    axes.axvline(1.0, color="gray", lw=1)
    for engine, style in SHOWN.items():
        found = [(x, i) for i, x in enumerate(columns[engine]) if x is not None]
        print(f"{engine}: {min(found)[0]} to {max(found)[0]} times as long")
        axes.semilogx(*zip(*found, strict=True), style, label=engine, ms=6, alpha=0.8)
    short = [", ".join(name.split(", ")[:2]) for name in names]
    axes.set_yticks(range(len(names)), short, fontsize=8)
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("time, as a multiple of that by hand")
    figure.legend(loc="outside upper center", ncols=len(SHOWN), frameon=False, handletextpad=0)
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
