"""How cotangents are held: by value, or by address in a store.

Read `kinds` first (how a value is identified), then `zeros` (the cotangent of what no gradient has
reached), `store` (cotangents of what has an address), `sequences` and `indexed` (cheaper forms),
`run` (what a run knows), `registry` (what a pullback is, and the handlers that the engine itself
declares).
"""
