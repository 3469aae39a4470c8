"""What several rules of `scipy.signal` need: borders, the reverse of filters, and spectra."""
