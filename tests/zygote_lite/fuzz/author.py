"""The part that authors of random programs share: choices, and names that are not taken yet."""


class RandomAuthor:
    """Write the text of a program by random choice.

    Arguments:
        source: a `random.Random`.
    """

    def __init__(self, source):
        self.source = source
        self.count = 0

    def choice(self, *options):
        return self.source.choice(options)

    def new(self, stem):
        """Return a name that is not taken yet."""
        self.count += 1
        return f"{stem}{self.count}"

    def block(self, count, depth):
        """Return the lines of some statements, which `statement` writes one at a time."""
        lines = []
        for _ in range(count):
            lines += self.statement(depth)
        return lines
