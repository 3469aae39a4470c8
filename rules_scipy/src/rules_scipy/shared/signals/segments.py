"""Fourier transforms of windowed segments, and their adjoint."""

import numpy as np
from scipy import fft as sf
from scipy import signal as ss

from rules_scipy.shared.signals.borders import continued, continued_back
from rules_scipy.shared.transforms import fft_adjoint, rfft_adjoint


class Segments:
    """Transform overlapping segments of a signal, and pull cotangents back.

    Arguments:
        f: SciPy's function, for messages.
        window, nperseg, noverlap, nfft, detrend: as for `scipy.signal.stft`.
        size: the length of the signal.
        onesided: whether only frequencies that are not negative are computed.
        overlap: the part of a segment that overlaps with the next one, if `noverlap` is `None`.
    """

    def __init__(self, f, window, nperseg, noverlap, nfft, detrend, size, onesided, overlap=0.5):
        refuse_function(f, detrend)
        if isinstance(window, str | tuple):
            nperseg = min(256 if nperseg is None else int(nperseg), size)
            self.window = ss.get_window(window, nperseg)
        else:
            self.window = np.asarray(window)
            if np.iscomplexobj(self.window):
                raise NotImplementedError(
                    f"scipy.signal.{f.__name__} has no rule for complex windows: give a real one"
                )
        self.length = len(self.window)
        self.nfft = self.length if nfft is None else int(nfft)
        noverlap = int(self.length * overlap) if noverlap is None else int(noverlap)
        self.step, self.size = self.length - noverlap, size
        self.count = max(0, (size - noverlap) // self.step)
        self.detrend, self.onesided = detrend, onesided

    def cut(self, x):
        """Return the segments without their trend, for a signal along the last axis."""
        views = np.lib.stride_tricks.sliding_window_view(x, self.length, -1)
        return self._without_trend(views[..., :: self.step, :][..., : self.count, :])

    def transformed(self, parts):
        """Return the transforms of segments."""
        transform = sf.rfft if self.onesided else sf.fft
        return transform(parts * self.window, self.nfft)

    def pulled(self, d):
        """Return the cotangent of windowed segments from that of their transforms."""
        if self.onesided:
            return rfft_adjoint(d, self.nfft, self.length, -1, None)
        return fft_adjoint(d, self.length, -1, None)

    def joined(self, d):
        """Return the cotangent of the signal from that of windowed segments."""
        d = self._without_trend(d * self.window)
        n, step, outer = self.count, self.step, d.shape[:-2]
        found = np.zeros((*outer, self.size + step), d.dtype)
        for begin in range(0, self.length, step):
            piece = d[..., begin : begin + step]
            rows = np.zeros((*outer, n, step), d.dtype)
            rows[..., : piece.shape[-1]] = piece
            end = begin + n * step
            have = min(end, found.shape[-1]) - begin
            found[..., begin : begin + have] += rows.reshape((*outer, n * step))[..., :have]
        return found[..., : self.size]

    def _without_trend(self, parts):
        return ss.detrend(parts, type=self.detrend) if self.detrend else parts

    def scale(self, scaling, fs):
        """Return by what powers are multiplied."""
        w = self.window
        return 1 / (fs * np.sum(w * w)) if scaling == "density" else 1 / np.sum(w) ** 2

    def of_scale(self, scaling, dlog):
        """Return the cotangent of the window from that of the logarithm of the scale."""
        w = self.window
        if scaling == "density":
            return -2 * dlog * w / np.sum(w * w)
        return np.full(w.shape, -2 * dlog / np.sum(w))

    def doubled(self):
        """Return the factors with which one side of a spectrum stands for both."""
        factors = np.full(self.nfft // 2 + 1 if self.onesided else self.nfft, 1.0)
        if self.onesided:
            factors[1 : -1 if self.nfft % 2 == 0 else None] = 2
        return factors


def refuse_function(f, detrend):
    """Raise `NotImplementedError` for a function that takes away the trend."""
    if callable(detrend):
        raise NotImplementedError(
            f"scipy.signal.{f.__name__} has no rule for a function as detrend: detrend before"
        )


def with_ends(x, width, boundary):
    """Return a signal with its ends continued, as `scipy.signal.stft` does."""
    if boundary == "zeros":
        return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(width, width)])
    return x if boundary is None else continued(x, width, boundary)


def with_ends_back(dx, width, boundary):
    """Return the cotangent of a signal from that of the one with its ends continued."""
    if boundary == "zeros":
        return dx[..., width : dx.shape[-1] - width]
    return dx if boundary is None else continued_back(dx, width, boundary)
