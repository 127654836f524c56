"""Queries of processes that may end at any time."""

import psutil


def command_line(process: psutil.Process) -> str:
    """Return a process's command line, or an empty text if it has ended or is just starting."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # a zombie is a NoSuchProcess
        return ""


def has_ended(process: psutil.Process) -> bool:
    """Return True if a process has ended. It may stay a zombie, because its parent or init decides when to reap it."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def does_a_job(process: psutil.Process) -> bool:
    """Return True if a process does a job, False if it is kept ready for the next."""
    return _has_an_assignment(process, "-m arcadia_workers.trainer.job ")


def trains(process: psutil.Process) -> bool:
    """Return True if a trainer has a run, False if it is kept ready for the next."""
    return _has_an_assignment(process, "-m arcadia_workers.trainer ")


def _has_an_assignment(process: psutil.Process, program: str) -> bool:
    if program not in (said := command_line(process)) or "leash.py" in said:
        return False
    try:
        return any(file.path.endswith("events.jsonl") for file in process.open_files())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
