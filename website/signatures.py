"""Signatures on the site: without the keywords that a function takes only to refuse them."""

import griffe


class WithoutKeywords(griffe.Extension):
    """Leave `**keywords` out, as `help` does (`hide_keywords`)."""

    def on_function(self, *, func, **_):
        """Change the parameters of a function that was read."""
        if "keywords" in [p.name for p in func.parameters]:
            del func.parameters["keywords"]
