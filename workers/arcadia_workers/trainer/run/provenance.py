"""Collection of an attempt's provenance: code, packages, host, command and environment variables.

The trainer collects it, since only the trainer knows what it imported. A worker may be older than the checkout.
"""

import dataclasses
import os
import platform
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
from arcadia.reporting.provenance import (
    CheckoutError,
    describe_cpu,
    describe_os,
    installed_packages,
    read_checkout,
    read_gpus,
    relevant_variables,
)

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.build import ROOT, build
from arcadia_workers.contract.plugins.loading import needed_plugins
from arcadia_workers.contract.provenance import Checkout, Gpu, Provenance
from arcadia_workers.trainer.errors import reason
from arcadia_workers.trainer.run import durable_files
from arcadia_workers.trainer.run.journal import Journal


def trainer_command() -> list[str]:
    """Return the command line of this trainer."""
    return ["python", "-m", "arcadia_workers.trainer", *sys.argv[1:]]


def collect_provenance(root: Path = ROOT) -> Provenance:
    """Return the provenance of this process. It takes a tenth of a second, mostly in git."""
    problem, state = None, None
    try:
        state = read_checkout(root)
    except CheckoutError as error:
        problem = str(error)
    checkout = dataclasses.asdict(state) if state else None
    diff = checkout.pop("diff") if checkout else ""
    from arcadia_workers.trainer.host.devices import cores  # loads torch, which takes seconds

    gpus = read_gpus()
    return Provenance(
        build=build(),
        checkout=Checkout.model_validate(checkout) if checkout else None,
        problem=problem,
        python=platform.python_version(),
        host=socket.gethostname(),
        os=describe_os(),
        cpu=describe_cpu(),
        cores=cores(),
        memory_bytes=psutil.virtual_memory().total,
        gpus=[Gpu(name=gpu.name, memory_bytes=gpu.memory_bytes) for gpu in gpus.gpus],
        driver=gpus.driver,
        cuda=gpus.cuda,
        command=trainer_command(),
        environment=relevant_variables(os.environ),
        packages=installed_packages(),
        diff=diff,
    )


DISTRIBUTIONS = ("torch", "numpy", "gymnasium", "ale-py")


def captured(config: Mapping[str, Any] = MappingProxyType({})) -> dict[str, str]:
    """Return the build of Arcadia, and the versions of Python, the libraries and the configuration's plug-ins."""
    versions = {"arcadia": build(), "python": platform.python_version()}
    for name in (*DISTRIBUTIONS, *needed_plugins(config)):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed as a package"
    return versions


# A run that ends at once waits this long, because its provenance may explain why.
LAST_SECONDS = 10.0


class ProvenanceReport:
    """Collection of the provenance in a thread, so that training does not wait for it."""

    def __init__(
        self, directory: Path, journal: Journal, collect: Callable[[], Provenance] = collect_provenance
    ) -> None:
        self._file, self._journal, self._collect = directory / layout.PROVENANCE, journal, collect
        self._result: Future[Provenance] = Future()
        self._is_reported = False
        threading.Thread(target=self._work, name="provenance", daemon=True).start()

    def report(self, step: int, frames: int, wait_seconds: float = 0.0) -> None:
        """Write the event if the provenance is collected and not reported yet, or a warning if that failed."""
        if self._is_reported:
            return
        wait([self._result], wait_seconds)
        if not self._result.done():
            return
        self._is_reported = True
        if error := self._result.exception():
            message = f"The provenance of this attempt could not be collected: {reason(error)}"
            self._journal.emit(events.Log, step=step, frames=frames, level="warning", message=message)
            return
        self._journal.emit(events.ProvenanceEvent, step=step, frames=frames, provenance=self._result.result())

    def _work(self) -> None:
        try:
            provenance = self._collect()
            durable_files.write(self._file, provenance.model_dump_json(indent=1).encode())
        except Exception as error:  # `report` logs it
            self._result.set_exception(error)
        else:
            self._result.set_result(provenance)
