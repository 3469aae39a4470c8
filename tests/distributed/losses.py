"""Losses that workers import, by name."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from zygote_lite._specialize import entry

DONE = set()  # the batches that were differentiated in this process
MADE = []  # the functions that were transformed in this process, since `note_transforms`


def logistic(params, batch):
    x, y = batch
    return np.sum(np.log1p(np.exp(-y * (x @ params["w"] + params["b"]))))


def logistic_of(params, x, y):
    return logistic(params, (x, y))


def mean_logistic(params, x, y):
    return logistic(params, (x, y)) / len(y)


def fails_at(params, batch):
    if batch == 3:
        raise ValueError("no such batch")  # the user's line
    return np.sum(params) * batch


def noisy(params, batch, rng):
    return batch * np.sum(rng.normal(size=params.shape) * params)


def writes(params, batch):
    batch *= 2.0
    params["w"] *= 3.0
    return np.sum(params["w"] * batch)


def kills(params, batch):
    """Kill the process that works on a certain batch, once: a file says that it has happened."""
    x, folder = batch
    if folder is not None:
        happened = Path(folder) / "killed"
        if not happened.exists():
            happened.write_text("", encoding="utf-8")
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return np.sum(params**2 * x)


def products(w, x):
    return w * x


def nothing(w, x):
    np.sum(w * x)


def sums(w, x):
    return np.sum(w * x)


def faults(w, count):
    """Return `w` times the pages of memory that the system has cleared for some large arrays."""
    return w * cleared(count)


def cleared(count):
    import resource

    for _ in range(10):  # the first ones need memory
        np.ones(98_304)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(count):
        np.ones(98_304)
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)


def note_transforms():
    make = entry.specialize
    entry.specialize = lambda f, *rest, **options: MADE.append(f) or make(f, *rest, **options)


def made_here():
    return [f.__name__ for f in MADE]


def of_one(params, batch):
    return np.sum(np.tanh(params["w"] * batch) + params["b"])


def counted(w, x):
    if int(x) not in DONE:
        note(x)
    return w * x


def note(x):
    DONE.add(int(x))


class Model:
    def __init__(self, w):
        self.w, self.name = w, "model"

    def __call__(self, x):
        return np.sum(np.sin(self.w * x))


def of_model(model, x):
    return model(x)
