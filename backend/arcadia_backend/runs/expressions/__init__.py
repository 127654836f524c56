"""A small language for filters and computed columns of runs, and its translation to SQL.

`parsing` makes the tree of `nodes`, and `sql` translates it. `requests` puts them together for routes.
"""
