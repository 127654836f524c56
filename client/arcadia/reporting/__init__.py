"""Reported runs: runs that a script logs, outside of Arcadia's trainer.

A script appends events to a journal, which is a file on its own disk. A separate process, the uploader, sends them.
Logging therefore never waits for a server, and the end of either process loses nothing.
"""
