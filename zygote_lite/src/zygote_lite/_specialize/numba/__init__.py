"""Typed code for Numba: what qualifies (`checks`), the same arithmetic (`arithmetic`), what is
computed earlier (`precompute`), the text (`writer`) and its compilation (`compile`)."""
