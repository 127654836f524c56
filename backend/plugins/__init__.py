"""Plug-ins: the packages that an administrator has allowed."""
