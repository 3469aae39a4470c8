"""The figures as a picture: a row for each workload, a dot for each engine."""

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.table import columns_of

RINGS = ("zygote_lite", "compiled")  # open, for what has the same ratio to be seen inside
MARKS = {  # colours that the colour-blind can tell apart
    "zygote_lite": ("#d55e00", "o", 130),
    "compiled": ("#d55e00", "D", 90),
    "autograd": ("#0072b2", "s", 42),
    "mygrad": ("#56b4e9", "v", 46),
    "torch": ("#cc79a7", "^", 46),
    "jax": ("#009e73", "P", 52),
    "numba": ("#e69f00", "X", 52),
    "primal": ("#999999", "|", 90),
}


def draw(results, names, path, caption=""):
    """Write the picture to a file."""
    figure = Figure(figsize=(9.5, 1.6 + 0.42 * len(results)), layout="constrained")
    axes = figure.subplots()
    names = columns_of(results, ["primal", *names])
    for row, timings in enumerate(results):
        found = [ratio for name in names if (ratio := timings.ratio(name)) is not None]
        axes.plot([min(found), max(found)], [row, row], color="#e4e4e4", lw=2, zorder=1)
    for name in reversed(names):
        colour, marker, size = MARKS[name]
        points = [
            (ratio, row)
            for row, timings in enumerate(results)
            if (ratio := timings.ratio(name)) is not None
        ]
        if name in RINGS:
            style = {"facecolors": "none", "edgecolors": colour, "linewidths": 2.2}
        elif name == "primal":
            style = {"c": colour, "linewidths": 2.0}
        else:
            style = {"c": colour, "edgecolors": "white", "linewidths": 0.5, "alpha": 0.9}
        label = "the function alone" if name == "primal" else name
        axes.scatter(*zip(*points), marker=marker, s=size, label=label, zorder=3, **style)
    axes.axvline(1.0, color="black", lw=1.0, zorder=2)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.set_yticks(range(len(results)), [timings.workload.title for timings in results])
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#eeeeee", zorder=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("time of value and gradient, as a multiple of the gradient written by hand")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles[::-1],
        labels[::-1],
        loc="outside upper center",
        ncols=len(names),
        frameon=False,
        handletextpad=0.2,
        columnspacing=1.2,
    )
    if caption:
        figure.supxlabel(caption, fontsize=7, color="#777777")
    figure.savefig(path, dpi=150)
