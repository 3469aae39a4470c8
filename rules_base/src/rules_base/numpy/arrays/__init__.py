"""Rules for what rearranges arrays: most are linear, and the pullback moves entries back.

Read `indexing` first: subscripts, and the scatter that undoes them, on which the others build.
`shaping` and `rearranging` keep the entries, `joining`, `padding` and `creation` put arrays
together, `ranges` lays them out from a few values, `selecting` and `sorting` choose among entries
by their values.
"""
