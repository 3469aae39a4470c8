"""Typed code as Python text: statements (`writer`), `lines` and expressions (`spell`).

`context_groups` puts nodes that run in one context into one `with`. `typed_writer` writes the same
code with its types, to be read.
"""
