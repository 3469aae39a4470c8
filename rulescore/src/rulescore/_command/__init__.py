"""What `python -m rulescore` looks at: names, functions without rules, and examples.

Read in this order: `lookup` (what a name stands for), `endings` and `survey` (functions without a
rule), `examples`.
"""
