"""Lists whose length is not fixed, of numbers, arrays and such lists.

Read in this order: `items` (read, written and appended one at a time), `whole` (joined, repeated,
copied and summed), `gathered` (given to NumPy).
"""
