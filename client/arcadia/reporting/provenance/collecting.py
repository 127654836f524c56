"""Provenance of a script, collected by its uploader: it has the same packages, variables and host."""

from __future__ import annotations

import dataclasses
import platform
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arcadia.reporting.provenance.checkout import CheckoutError, find_checkout, read_checkout
from arcadia.reporting.provenance.hardware import (
    count_cores,
    describe_cpu,
    describe_os,
    read_gpus,
    read_memory_bytes,
)
from arcadia.reporting.provenance.packages import installed_packages
from arcadia.version import client_version


def collect_provenance(script: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance of a script as the API has it. The script's own facts are its command and its folder."""
    problem, state = None, None
    try:
        root = find_checkout(Path(script["folder"]))
        state = read_checkout(root) if root else None
    except CheckoutError as error:
        problem = str(error)
    checkout = dataclasses.asdict(state) if state else None
    diff = checkout.pop("diff") if checkout else ""
    return {
        "build": f"arcadia-client {client_version()}",
        "checkout": checkout,
        "problem": problem,
        "python": platform.python_version(),
        "host": socket.gethostname(),
        "os": describe_os(),
        "cpu": describe_cpu(),
        "cores": count_cores(),
        "memory_bytes": read_memory_bytes(),
        **dataclasses.asdict(read_gpus()),
        "command": script["command"],
        "environment": script["environment"],
        "packages": installed_packages(),
        "diff": diff,
    }
