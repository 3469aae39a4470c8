"""Iterators and generators: `iterators` (what they are), `generators` (how they go on), `written`
(how loops over them are), `own` (objects that are
iterated over), `taken` (calls that make them, or take from them) and `in_python` (what
such calls mean).
"""
