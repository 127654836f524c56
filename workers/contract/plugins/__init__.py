"""Plug-ins: packages that add environments, networks, protocols, methods, presets and papers.

interface    what a package provides, and the interface's version
allowed      the packages that an administrator has allowed
discovery    the installed packages with entry points of plug-ins
groups       one entry-point group for each kind of part, with its registry and its checks
loading      imports the allowed packages and registers their parts
trial        loads packages in a separate process that may fail or hang
references   references to objects of modules, which the trainer imports
needs        the plug-ins that a configuration needs
scaffold     new packages from a template
"""
