"""The text of `python -c`, which Python keeps among its arguments and not under a file's name."""

import sys
from functools import lru_cache

_TAKES_A_VALUE = "WX"  # options of Python that the rest of a word, or the next word, belongs to


@lru_cache(maxsize=1)
def lines_of_command() -> tuple[str, ...]:
    """Return the lines of the program that was given by `-c`; there are none without it."""
    words = iter(sys.orig_argv[1:])
    for word in words:
        if word == "--check-hash-based-pycs":
            next(words, None)
        elif word.startswith("--"):
            continue
        elif not word.startswith("-"):  # the file of a program
            break
        for i, letter in enumerate(word[1:], 2):
            if letter == "c":
                return tuple(f"{word[i:] or next(words, '')}\n".splitlines(keepends=True))
            if letter == "m":
                return ()
            if letter in _TAKES_A_VALUE:
                if not word[i:]:
                    next(words, None)
                break
    return ()
