"""Iterators and generators, and what is known of what loops walk over.

Read in this order: `known` (items that are known one by one), `rows` (rows of data from outside)
and `columns` (which they are taken apart into), `iterators` (what iterators are), `generators` (how
they go on), `written` (how loops over them are), `own` (objects that are iterated over), `taken`
(calls that make iterators, or take from them), `in_python` (what such calls mean).
"""
