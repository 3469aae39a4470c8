"""Methods for initial value problems, step by step and backwards."""
