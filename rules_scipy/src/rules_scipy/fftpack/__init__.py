"""Rules for `scipy.fftpack`, by the adjoints of `scipy.fft`."""
