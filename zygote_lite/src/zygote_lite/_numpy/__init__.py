"""What NumPy means on a tape, beyond its rules: arrays that are written in place.

`writes` is the model of state (`x[i] = v`), `whole_writes` what writes a whole array (`out=`, the
operators in place); `functions` has the functions that write or that call the user's functions;
`conversions` asks objects what they are as arrays, `nditer` walks over arrays, `foreign` calls
methods of other libraries' arrays, and `dataframes` has data of pandas.

Comes from below: the tape, and the shadows of arrays in the store of cotangents.
"""
