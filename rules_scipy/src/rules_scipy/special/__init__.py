"""Rules for `scipy.special`: a module for each section of its manual, a line for each function.

The numbers in comments are those of the NIST Digital Library of Mathematical Functions (DLMF).
"""
