"""Tables and figures of the papers, with studies that reproduce them and figures that compare the results.

Each folder is a paper. Its `__init__.py` has the `PAPER`; each table or figure is another module of the folder.
"""
