"""Emitted code written out as a module that imports nothing of this package.

Read `module` first (the text around the code), then `helpers` (functions of ours that the code
calls, written out beside it).
"""
