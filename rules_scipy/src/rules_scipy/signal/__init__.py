"""Rules for `scipy.signal`: the adjoint of a filter is the filter that runs backwards."""
