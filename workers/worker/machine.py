"""Facts about the machine of a worker."""

import os
import shutil
import socket
import subprocess

import psutil

from workers.contract.build import build
from workers.contract.plugins.loading import PLUGINS
from workers.contract.worker_api import MachineFacts, ReportedPlugin


def gpu_name() -> str | None:
    """Return the name of the first GPU, or None."""
    if shutil.which("nvidia-smi") is None:
        return None
    try:
        query = subprocess.run(
            ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    names = query.stdout.split("\n")
    return names[0].strip() or None


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine_facts(replaces: int | None = None) -> MachineFacts:
    """Return the facts about this host and process for the backend."""
    return MachineFacts(
        host=socket.gethostname(),
        pid=os.getpid(),
        version=build(),
        device=gpu_name() or "cpu",
        cores=usable_cores(),
        memory_bytes=psutil.virtual_memory().total,
        plugins=[
            ReportedPlugin(name=plugin.name, version=plugin.version, problem=plugin.problem)
            for plugin in PLUGINS.values()
        ],
        replaces=replaces,
    )
