"""Rules for Python itself: its builtins and the modules of its standard library."""
