"""How cotangents are held: by value, or by address in a store.

Read `kinds` first (how a value is identified), then `store` (cotangents of what has an address),
`sequences` and `indexed` (cheaper forms), `pullbacks` (what a pullback is), `run` (what a run
knows), `registry` (the handlers that the engine itself declares).
"""
