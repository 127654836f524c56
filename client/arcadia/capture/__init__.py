"""Capture of a command as a reported run: its output, its exit status, and its libraries' logs."""
