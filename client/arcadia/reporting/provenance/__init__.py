"""Collection of the provenance of a process: code, packages, host, command and environment variables.

It uses only Python's standard library, because both scripts and Arcadia's trainer use it.
"""
