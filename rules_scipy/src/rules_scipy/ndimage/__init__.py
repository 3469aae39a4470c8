"""Rules for `scipy.ndimage`.

`convolutions` has the filters with weights, of which `smoothing` and `derivatives` are made;
`ranks` those that choose an entry; `fourier` those of spectra. `splines` has the coefficients of
splines and their values, on which `coordinates` builds all that moves an image. Statistics of
labels are differentiated through their own source. `shared.pixels.boundaries` has the modes.
"""
