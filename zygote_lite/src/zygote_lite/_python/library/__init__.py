"""Functions of the standard library, as Python that means the same and is differentiated."""
