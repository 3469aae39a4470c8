"""Plugins: the rules of installed distributions, by entry point.

From below come the table of rules, its changes and what stands in it for rules that are loaded
later (`_table`). Above, `plugins`, `Section` and `hookimpl` are public.

Read in this order: `loading` (all plugins, at the first look-up), `entry` (one entry point: its
hook, and what it hands over), `plugin` (what is known of one), `sections` (rules that wait for
their library, or for the first look-up of one of their functions), `switches` (the variables of the
environment, and warnings), and `published` (which plugin to install).
"""
