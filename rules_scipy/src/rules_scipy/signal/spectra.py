"""Spectra of segments: powers, their averages, and short-time Fourier transforms.

Frequencies go with the sampling rate, times and densities with its inverse.
"""

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.signals.recursions import last
from rules_scipy.shared.signals.segments import (
    Segments,
    refuse_function,
    with_ends,
    with_ends_back,
)
from rules_scipy.shared.solvers import solver
from rules_scipy.shared.transforms import ifft_adjoint, irfft_adjoint, resized
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.spectra")
BY = ("x", "fs", "window")
NAMED = "give its `n` numbers, `window=scipy.signal.get_window(window, n)`, which have one"
REFUSED = {"window": (tuple, NAMED)}


def is_array(window):
    """Return whether a window is given by its numbers."""
    return not isinstance(window, str | tuple)


def of_frequencies(df, f, fs):
    """Return the cotangent of the sampling rate from that of the frequencies."""
    return 0.0 if df is None else np.sum(df * f) / fs


def of_times(dt, t, fs):
    """Return the cotangent of the sampling rate from that of the times."""
    return 0.0 if dt is None else -np.sum(dt * t) / fs


@solver(rule, ss.welch, by=BY, refused=REFUSED)
def _(ad, found, given):
    return powers(ss.welch, found, {**given, "y": given["x"]}, True)


@solver(rule, ss.csd, by=("x", "y", "fs", "window"), refused=REFUSED)
def _(ad, found, given):
    return powers(ss.csd, found, given, given["x"] is given["y"])


@solver(rule, ss.periodogram, by=BY, refused=REFUSED)
def _(ad, found, given):
    size, nfft = np.shape(given["x"])[given["axis"]], given["nfft"]
    if nfft is not None and nfft < size:
        size, nfft = nfft, None
    window = "boxcar" if given["window"] is None else given["window"]
    more = {"y": given["x"], "nperseg": size, "noverlap": 0, "average": "mean"}
    return powers(ss.periodogram, found, {**given, **more, "nfft": nfft, "window": window}, True)


def powers(f, found, given, is_same):
    """Return the pullback of averaged powers, or of averaged products of two spectra.

    Arguments:
        f, found: SciPy's function, and what it returned.
        given: the arguments of `scipy.signal.csd`.
        is_same: whether both signals are one.
    """
    x, y, axis, fs = given["x"], given["y"], given["axis"], float(given["fs"])
    freqs, value = found
    refuse_function(f, given["detrend"])
    if np.ndim(x) != np.ndim(y) and axis >= 0:
        raise NotImplementedError(
            f"scipy.signal.{f.__name__} has a rule for signals of as many axes, or axis=-1: "
            "reshape one of them"
        )

    def pullback(dout):
        dfreqs, dp = dout
        pulled = {"fs": of_frequencies(dfreqs, freqs, fs)}
        if dp is None or not np.size(value):
            return pulled
        at = [last(x, axis), last(y, axis)]
        sizes = [each.shape[-1] for each in at]
        size = given["nperseg"] if f is ss.periodogram else max(sizes)
        at = [resized(each, size, each.ndim - 1) for each in at]
        onesided = given["return_onesided"] and not np.iscomplexobj(at[0])
        cut = Segments(f, given["window"], given["nperseg"], given["noverlap"], given["nfft"],
                       given["detrend"], size, onesided)  # fmt: skip
        parts = [cut.cut(each) for each in at]
        first, second = [cut.transformed(each) for each in parts]
        scale = cut.scale(given["scaling"], fs) * cut.doubled()
        d = averaged_back(last(dp, axis)[..., None, :], np.conj(first) * second, given["average"])
        of_scale = np.sum(np.real(np.conj(last(dp, axis)) * last(value, axis)))
        d = d * scale
        dspectra = [2 * np.real(d) * first] if is_same else [np.conj(d) * second, d * first]
        dparts = [cut.pulled(each) for each in dspectra]
        dsignals = [resized(np.asarray(cut.joined(each)), n, each.ndim - 2)
                    for each, n in zip(dparts, sizes, strict=False)]  # fmt: skip
        names = ("x",) if is_same else ("x", "y")
        for name, each in zip(names, dsignals, strict=True):
            pulled[name] = project(np.moveaxis(each, -1, axis), given[name])
        if given["scaling"] == "density":
            pulled["fs"] = pulled["fs"] - of_scale / fs
        if is_array(given["window"]):
            dw = sum([of_window(d, part) for d, part in zip(dparts, parts, strict=False)])
            dw = dw + cut.of_scale(given["scaling"], of_scale)
            pulled["window"] = project(dw, given["window"])
        return pulled

    return lambda dout: finished(pullback(dout), given)


def finished(pulled, given):
    """Return cotangents by name, that of the sampling rate as of a number."""
    return {**pulled, "fs": project(pulled["fs"], given["fs"])}


def of_window(dparts, parts):
    """Return the cotangent of a window from that of windowed segments."""
    product = np.real(dparts * np.conj(parts))  # one of two signals may be broadcast
    return np.sum(product, tuple(range(product.ndim - 1)))


def averaged_back(dp, products, average):
    """Return the cotangent of products of segments from that of their average."""
    n = products.shape[-2]
    if n == 1 or average == "mean":
        return np.broadcast_to(dp / n, products.shape)
    k = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    bias = 1 + np.sum(1 / (k + 1) - 1 / k)
    found = np.real(dp) * of_median(np.real(products))
    if np.iscomplexobj(dp):
        found = found + 1j * np.imag(dp) * of_median(np.imag(products))
    return found / bias


def of_median(x):
    """Return weights with which segments have their median as their sum."""
    n, ordered = x.shape[-2], np.sort(x, -2)
    ends = [x == ordered[..., [k], :] for k in ((n - 1) // 2, n // 2)]
    return sum([0.5 * end / np.sum(end, -2, keepdims=True) for end in ends])


@solver(rule, ss.coherence, by=("x", "y", "fs", "window"), refused=REFUSED)
def _(ad, found, given):
    more = {"return_onesided": True, "scaling": "density", "average": "mean"}
    given = {**given, **more}
    x, y = given["x"], given["y"]
    options = {name: given[name] for name in given if name not in ("x", "y", "average")}

    def pullback(dout):
        dfreqs, dc = dout
        freqs, c = found
        total = {"fs": of_frequencies(dfreqs, freqs, float(given["fs"]))}
        if dc is None:
            return finished(total, given)
        (_, xx), (_, yy), (_, xy) = [ss.csd(a, b, **options) for a, b in ((x, x), (y, y), (x, y))]
        each = (
            ("x", "x", xx, -dc * c / np.real(xx)),
            ("y", "y", yy, -dc * c / np.real(yy)),
            ("x", "y", xy, 2 * dc * xy / (np.real(xx) * np.real(yy))),
        )
        for one, other, power, d in each:
            own = {**given, "x": given[one], "y": given[other]}
            back = powers(ss.csd, (freqs, power), own, one == other)
            for name, dx in back((None, project(d, power))).items():
                name = {"x": one, "y": other}.get(name, name)
                total[name] = dx if total.get(name) is None else total[name] + np.asarray(dx)
        return {name: project(dx, given[name]) for name, dx in total.items()}

    return pullback


@solver(rule, ss.spectrogram, by=BY, refused=REFUSED)
def _(ad, found, given):
    x, axis = np.asarray(given["x"]), given["axis"]
    mode = given["mode"]
    onesided = given["return_onesided"] and not np.iscomplexobj(x)
    cut = Segments(ss.spectrogram, given["window"], given["nperseg"], given["noverlap"],
                   given["nfft"], given["detrend"], x.shape[axis], onesided, 0.125)  # fmt: skip
    return of_segments(found, given, cut, mode, last(x, axis), lambda dx: dx)


@solver(rule, ss.stft, by=BY, refused=REFUSED)
def _(ad, found, given):
    x, axis, boundary = np.asarray(given["x"]), given["axis"], given["boundary"]
    onesided = given["return_onesided"] and not np.iscomplexobj(x)
    n = x.shape[axis]
    cut = Segments(ss.stft, given["window"], given["nperseg"], given["noverlap"], given["nfft"],
                   given["detrend"], n, onesided)  # fmt: skip
    width, step = cut.length // 2, cut.step
    ext = with_ends(last(x, axis), width, boundary)
    added = (-(ext.shape[-1] - cut.length) % step) % cut.length if given["padded"] else 0
    ext = np.concatenate([ext, np.zeros((*ext.shape[:-1], added))], -1)
    cut.size = ext.shape[-1]
    cut.count = (cut.size - cut.length + step) // step
    scaling = "density" if given["scaling"] == "psd" else "spectrum"

    def back(dext):
        return with_ends_back(dext[..., : dext.shape[-1] - added], width, boundary)

    return of_segments(found, {**given, "scaling": scaling}, cut, "complex", ext, back)


def of_segments(found, given, cut, mode, x, back):
    """Return the pullback of powers or transforms of all segments.

    Arguments:
        found: frequencies, times and values that SciPy's function returned.
        given: its arguments.
        cut: the segments.
        mode: as for `scipy.signal.spectrogram`.
        x, back: what is cut, with time as the last axis, and the pullback from it to the signal.
    """
    fs, axis, scaling = float(given["fs"]), given["axis"], given["scaling"]
    freqs, times, value = found

    def pullback(dout):
        dfreqs, dtimes, d = dout
        dfs = of_frequencies(dfreqs, freqs, fs) + of_times(dtimes, times, fs)
        if d is None or not np.size(value):
            return {"fs": project(dfs, given["fs"])}
        parts = cut.cut(x)
        spectra = cut.transformed(parts)
        scale = cut.scale(scaling, fs) * cut.doubled() if mode == "psd" else 1.0
        factor = cut.scale(scaling, fs) ** 0.5 if mode in ("complex", "magnitude") else 1.0
        of_scale = np.sum(np.real(np.conj(d) * value)) * (1.0 if mode == "psd" else 0.5)
        of_scale = 0.0 if mode in ("angle", "phase") else of_scale
        d = np.moveaxis(np.asarray(d), axis - 1 if axis < 0 else axis, -1)
        if mode == "phase":
            d = np.real(d)
        d = SLOPES[mode](d, spectra) * scale * factor
        dparts = cut.pulled(d)
        dx = np.moveaxis(back(cut.joined(dparts)), -1, axis)
        pulled = {"x": project(dx, given["x"])}
        if scaling == "density":
            dfs = dfs - of_scale / fs
        if is_array(given["window"]):
            dw = of_window(dparts, parts) + cut.of_scale(scaling, of_scale)
            pulled["window"] = project(dw, given["window"])
        return {**pulled, "fs": project(dfs, given["fs"])}

    return pullback


def of_size(d, z):
    """Return the cotangent of a complex number from that of its absolute value."""
    size = np.abs(z)
    return np.where(size == 0, 0, d * z / np.where(size == 0, 1, size))


def of_angle(d, z):
    """Return the cotangent of a complex number from that of its angle."""
    with np.errstate(all="ignore"):
        return np.where(d == 0, 0, 1j * d / np.conj(z))


SLOPES = {
    "psd": lambda d, z: 2 * np.real(d) * z,
    "complex": lambda d, z: d,
    "magnitude": of_size,
    "angle": of_angle,
    "phase": of_angle,
}


@solver(rule, ss.istft, by=("Zxx", "fs"))
def _(ad, found, given):
    shape, onesided, boundary = np.shape(given["Zxx"]), given["input_onesided"], given["boundary"]
    axes = [int(given[name]) % len(shape) for name in ("freq_axis", "time_axis")]
    (bins, count), window = [shape[axis] for axis in axes], given["window"]
    natural = 2 * (bins - 1) if onesided else bins
    length = natural if given["nperseg"] is None else int(given["nperseg"])
    nfft = given["nfft"]
    if nfft is None:
        nfft = length if onesided and length == natural + 1 else natural
    step = length - (length // 2 if given["noverlap"] is None else int(given["noverlap"]))
    w = np.asarray(window) if is_array(window) else ss.get_window(window, length)
    if np.iscomplexobj(w):
        raise NotImplementedError(
            "scipy.signal.istft has no rule for complex windows: give a real one"
        )
    size, fs = length + (count - 1) * step, float(given["fs"])
    norm = np.zeros(size)
    for i in range(count):
        norm[i * step : i * step + length] += np.real(w**2)
    norm = np.where(norm > 1e-10, norm, 1.0)
    is_psd = given["scaling"] == "psd"
    scale = np.sqrt(fs * np.sum(w**2)) if is_psd else np.sum(w)
    axis = axes[1] - (axes[0] < axes[1]) if axes[1] != len(shape) - 1 else -1
    skipped = length // 2 if boundary else 0
    times, x = found

    def pullback(dout):
        dt, dx = dout
        dfs = of_times(dt, times, fs)
        if dx is None:
            return {"fs": project(dfs, given["fs"])}
        if is_psd:
            dfs = dfs + np.sum(np.real(np.conj(dx) * x)) / (2 * fs)
        d = with_ends(last(dx, axis), skipped, "zeros") / norm
        d = np.lib.stride_tricks.sliding_window_view(d, length, -1)[..., ::step, :]
        d = resized(d * (np.conj(w) * np.conj(scale)), int(nfft), d.ndim - 1)
        adjoint = irfft_adjoint if onesided else ifft_adjoint
        dz = np.moveaxis(np.swapaxes(adjoint(d, bins, -1, None), -1, -2), (-2, -1), axes)
        return {"Zxx": project(dz, given["Zxx"]), "fs": project(dfs, given["fs"])}

    return pullback
