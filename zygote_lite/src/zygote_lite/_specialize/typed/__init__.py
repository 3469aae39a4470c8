"""The typed IR: abstract values (`values`), the operations on them (`nodes`).

`runtime` holds the functions that emitted code calls; `plugins` tells whose modules stay as they
are.
"""
