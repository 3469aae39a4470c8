"""Limits of figures: a benchmark ends with an error where one of its figures is over its limit."""


class Limits:
    """The figures of a run that have a limit, and those of them that are over it."""

    def __init__(self):
        self.over = []

    def hold(self, name, figure, most):
        """Note a figure that may be at most as large as given."""
        if not figure <= most:  # also where it is not a number
            self.over.append(f"{name}: {figure:.3g}, and the limit is {most:g}")

    def end(self):
        """End the program with status 1 and a line for each figure that is over its limit."""
        if self.over:
            raise SystemExit("\n".join(["over the limit:", *self.over]))
