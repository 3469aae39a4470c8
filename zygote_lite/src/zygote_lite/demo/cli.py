"""The console script `zygote-lite`."""

import argparse
import operator
import sys
from pathlib import Path

import numpy as np

from rulescore import find_rule
from zygote_lite.demo import moons as _demo


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and return its exit status.

    Arguments:
        arguments: the words after the script's name; those that it was started with by default.
    """
    parser = argparse.ArgumentParser("zygote-lite", description="See zygote_lite at work.")
    commands = parser.add_subparsers(title="commands", required=True)
    moons = commands.add_parser("moons", help="train a small network to tell two moons apart")
    moons.add_argument("--epochs", type=_positive, default=200, help="how long (default: 200)")
    moons.add_argument(
        "--out", type=Path, default=Path("moons.png"), help="the picture (default: moons.png)"
    )
    moons.add_argument("--seed", type=int, default=0, help="of data and weights (default: 0)")
    moons.set_defaults(run=_moons)
    given = parser.parse_args(arguments)
    try:
        given.run(given)
    except _demo.DemoError as error:
        print(f"zygote-lite: {error}", file=sys.stderr)
        return 1
    return 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _moons(given: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    if find_rule(operator.matmul, np.eye(2), np.eye(2)) is None:
        raise _demo.DemoError("the demo needs the rules of NumPy: pip install rules_base")
    path = given.out / "moons.png" if given.out.is_dir() else given.out
    if not path.parent.is_dir():
        raise _demo.DemoError(f"there is no directory {path.parent} for the picture")
    figure = _demo.new_figure()
    rng = np.random.default_rng(given.seed)
    X, label = _demo.two_moons(400, 0.1, rng)
    X_new, label_new = _demo.two_moons(1000, 0.1, rng)
    model = _demo.make_model(rng)
    columns = TextColumn("training"), BarColumn(), MofNCompleteColumn()
    numbers = TextColumn("loss {task.fields[loss]:.4f}  accuracy {task.fields[accuracy]:.3f}")
    console = Console()
    with Progress(*columns, numbers, console=console) as progress:
        task = progress.add_task("training", total=given.epochs, loss=np.nan, accuracy=np.nan)

        def report(loss: float, accuracy: float) -> None:
            progress.update(task, advance=1, loss=loss, accuracy=accuracy)

        losses = _demo.train(model, X, label, given.epochs, report)
    _demo.draw(figure, model, X, label, losses)
    figure.savefig(path, format="png")
    console.print(f"picture: {path}", highlight=False, soft_wrap=True)
    accuracy = _demo.accuracy(model, X_new, label_new)
    console.print(f"accuracy on {len(X_new)} held-out points: {accuracy:.3f}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
