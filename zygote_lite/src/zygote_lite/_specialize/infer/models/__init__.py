"""What the interpreter knows of Python's types and functions: one module for each.

A module says what is supported, and what must be refused for the code to be right.
"""
