"""Rules for `scipy.sparse`: the numbers that an array stores move, and its pattern stays.

A sparse array goes by value. Its cotangent is a sparse array of the same class, with the same
pattern: its `data` is the gradient by the array's `data`. `values` says how such cotangents are
made and added up, and has the functions that all rules are made of; `attributes` has the fields.
"""
