"""Processes that may end while they are looked at."""

import psutil


def command_line(process: psutil.Process) -> str:
    """Return a process's command line; nothing of one that has ended or is only now being made."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # a zombie is a NoSuchProcess
        return ""
