"""Train a small network to tell two moons apart: what `zygote-lite moons` does.

The model and the training loop are plain Python and NumPy (`zygote_lite._interface.demo.moons`).

    python examples/moons.py --out moons.png
"""

import sys

from zygote_lite._interface.demo.cli import main

if __name__ == "__main__":
    sys.exit(main(["moons", *sys.argv[1:]]))
