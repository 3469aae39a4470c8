"""Filters that run forwards, and then backwards over what they gave."""

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.signals.borders import continued, continued_back
from rules_scipy.shared.signals.recursions import (
    Recursion,
    coefficients,
    last,
    like,
    of_sections,
    of_steady_sections,
    steady_back,
)
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.zero_phase")
ArrayLike = Numeric | list | tuple


@rule(ss.filtfilt)
def _(b: ArrayLike, a: ArrayLike, x: ArrayLike, axis=-1, padtype="odd", padlen=None,
      method="pad", irlen=None, *, ad):  # fmt: skip
    if method == "gust":
        y, back = ad(gustafsson, b, a, x, axis, irlen)
        return y, lambda dy: back(dy)[1:4]
    y = ss.filtfilt(b, a, x, axis, padtype, padlen, method, irlen)
    num, den = coefficients(b, a)
    edge = edge_of(padtype, padlen, max(len(num), len(den)))

    def run(x, zi):
        return ss.lfilter(num, den, x, zi=zi)

    def pull(x, zi, found, dy):
        back = Recursion(num, den, dy)
        dcoefficients = [back.of_numerator(x), back.of_denominator(found[0], zi, found[1])]
        return dcoefficients, back.of_input(), back.of_state()

    def pullback(dy):
        zi = ss.lfilter_zi(num, den)
        found, dx, dzi = both_ways(x, dy, axis, edge, padtype, zi, run, pull)
        db, da = map(np.add, found, steady_back(num, den, zi, 0.0, dzi))
        return like(db, b), like(da, a), project(dx, x)

    return y, pullback


@rule(ss.sosfiltfilt)
def _(sos: ArrayLike, x: ArrayLike, axis=-1, padtype="odd", padlen=None):
    y = ss.sosfiltfilt(sos, x, axis, padtype, padlen)
    sections = np.atleast_2d(np.asarray(sos))
    zeros = min(np.sum(sections[:, 2] == 0), np.sum(sections[:, 5] == 0))
    edge = edge_of(padtype, padlen, 2 * len(sections) + 1 - zeros)

    def run(x, zi):
        return ss.sosfilt(sections, x, zi=zi)

    def pull(x, zi, found, dy):
        dsections, dx, dzi = of_sections(sections, x, zi, dy, None)
        return [dsections], dx, dzi

    def pullback(dy):
        zi = ss.sosfilt_zi(sections)
        shaped = np.reshape(zi, (len(zi), *[1] * (np.ndim(y) - 1), 2))
        (found,), dx, dzi = both_ways(x, dy, axis, edge, padtype, shaped, run, pull)
        dsos = found + of_steady_sections(sections, dzi) * (np.arange(6) != 3)
        return like(dsos, sos), project(dx, x)

    return y, pullback


def both_ways(x, dy, axis, edge, padtype, zi, run, pull):
    """Return the cotangents of coefficients, the input, and the steady state `zi` of a filter.

    Arguments:
        x, dy, axis: the input, the cotangent of the output, and the axis of time.
        edge, padtype: how the input is continued at either end.
        zi: the state for a constant input of one.
        run: runs the filter from a state.
        pull: returns the cotangents of coefficients, input and state of a run, for its input,
            its state, what it gave, and the cotangent of its output.
    """
    first = continued(last(x, axis), edge, padtype)
    of_first = run(first, zi * first[..., :1])
    second = np.flip(of_first[0], -1)
    of_second = run(second, zi * second[..., :1])
    d = last(dy, axis)
    d = np.flip(np.pad(d, [(0, 0)] * (d.ndim - 1) + [(edge, edge)]), -1)
    total, dzi = [], 0.0
    over = tuple(range(0 if zi.ndim == 1 else 1, d.ndim - 1 + (zi.ndim > 1)))  # not the states
    for given, found in ((second, of_second), (first, of_first)):
        dcoefficients, d, dstate = pull(given, zi * given[..., :1], found, d)
        begin = np.sum(np.conj(zi) * dstate, -1, keepdims=True)
        begin = begin if zi.ndim == 1 else np.sum(begin, 0)
        d = np.concatenate([d[..., :1] + begin, d[..., 1:]], -1)
        dzi = dzi + np.sum(dstate * np.conj(given[..., :1]), over)
        total = list(map(np.add, total, dcoefficients)) if total else dcoefficients
        d = np.flip(d, -1) if given is second else d
    dx = np.moveaxis(continued_back(d, edge, padtype), -1, axis)
    return total, dx, dzi


def edge_of(padtype, padlen, taps):
    """Return how many entries SciPy adds at either end."""
    return 0 if padtype is None else 3 * taps if padlen is None else padlen


def gustafsson(b, a, x, axis, irlen):
    """Return what Gustafsson's method gives, through SciPy's source."""
    return ss._signaltools._filtfilt_gust(b, a, np.asarray(x), axis=axis, irlen=irlen)[0]


@rule(ss.minimum_phase)
def _(h: Numeric, method="homomorphic", n_fft=None, *, half=True, ad):
    y = ss.minimum_phase(h, method, n_fft, half=half)
    if n_fft is None:
        n_fft = 2 ** int(np.ceil(np.log2(2 * (len(h) - 1) / 0.01)))
    _, back = ad(with_least_phase, h, method, int(n_fft), half)
    return y, lambda dy: back(dy)[1:2]


def with_least_phase(h, method, n_fft, half):
    """Return the filter of least phase whose response has the size, or its root, of another's.

    Frequencies at which the lifted response is zero stay so: they do not move with the filter.
    """
    middle = len(h) // 2
    window = np.zeros(n_fft)
    if method == "hilbert":
        turned = np.exp(1j * np.arange(n_fft) * (2 * np.pi / n_fft * middle))
        response = np.real(np.fft.fft(h, n_fft) * turned)
        above, below = np.max(response) - 1, -np.min(response)
        lifted = response + below
        is_zero = lifted <= 1e-14 * np.max(lifted)
        scale = 4 / (np.sqrt(1 + above + below) + np.sqrt(1 - above + below)) ** 2
        size = np.where(is_zero, 0.0, np.sqrt(scale * np.where(is_zero, 1.0, lifted))) + 1e-10
        window[1 : n_fft // 2], window[n_fft // 2 + 1 :] = 1.0, -1.0
        phase = np.fft.fft(window * np.fft.ifft(np.log(size)))
        found = np.real(np.fft.ifft(size * np.exp(phase)))
    else:
        size = np.abs(np.fft.fft(h, n_fft))
        size = np.log(size + 1e-7 * np.min(size[size > 0]))
        window[0], window[1 : n_fft // 2] = 1.0, 2.0
        if n_fft % 2:
            window[n_fft // 2] = 1.0
        cepstrum = np.real(np.fft.ifft(size / 2 if half else size))
        found = np.real(np.fft.ifft(np.exp(np.fft.fft(cepstrum * window))))
    return found[: middle + len(h) % 2 if half else len(h)]
