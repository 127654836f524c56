"""Plug-ins: packages that add environments, networks, protocols, methods, presets and papers.

discovery  the installed packages with entry points of plug-ins, and the ones that an administrator has allowed
loading    imports the allowed packages and registers their parts, one entry-point group for each kind of part
trial      loads packages in a separate process that may fail or hang, and makes new ones from a template
"""
