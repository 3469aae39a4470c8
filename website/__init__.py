"""The site of the documentation: links, pages that are generated, and screenshots of it.

`nox -s docs` builds it by MkDocs from `docs/`, the README files and `examples/`.
"""
