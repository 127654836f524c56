"""The machine of a worker: name, directory, and facts about the host."""

import contextlib
import errno
import fcntl
import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil
import pynvml

from arcadia_workers.contract.build import build
from arcadia_workers.contract.plugins.loading import PLUGINS
from arcadia_workers.contract.worker_api import MachineFacts, ReportedGpu, ReportedPlugin
from arcadia_workers.worker.answers import BackendError, NameTakenError, WrongTokenError


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


# Reported in steps of this size, so that facts change rarely.
FOREIGN_STEP_BYTES = 2**28


def read_gpus() -> list[ReportedGpu]:
    """Return the GPUs that this process may use, with the memory that programs of others hold.

    A GPU that CUDA_VISIBLE_DEVICES names by anything but a number is not reported. Its worker uses it alone.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    chosen = None if visible is None else [each.strip() for each in visible.split(",")]
    try:
        pynvml.nvmlInit()
        return [
            _read_gpu(index) for index in range(pynvml.nvmlDeviceGetCount()) if chosen is None or str(index) in chosen
        ]
    except pynvml.NVMLError:
        return []


def _read_gpu(index: int) -> ReportedGpu:
    gpu = pynvml.nvmlDeviceGetHandleByIndex(index)
    foreign = sum(
        process.usedGpuMemory or 0
        for process in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
        if not _is_trainer(process.pid)
    )
    name = pynvml.nvmlDeviceGetName(gpu)
    return ReportedGpu(
        index=index,
        name=name if isinstance(name, str) else name.decode(),
        memory_bytes=pynvml.nvmlDeviceGetMemoryInfo(gpu).total,
        foreign_bytes=foreign // FOREIGN_STEP_BYTES * FOREIGN_STEP_BYTES,
    )


def _is_trainer(pid: int) -> bool:
    """Return True for the processes of runs and jobs, also those of other workers on this host."""
    try:
        process = psutil.Process(pid)
        return any(TRAINER_MODULE in each.cmdline() for each in (process, *process.parents()))
    except psutil.Error:
        return False


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
        gpus=read_gpus(),
        replaces=replaces,
    )


# Less than this is too little for a few checkpoints.
LOW_DISK_BYTES = 100_000_000
# More than an event or a request needs.
PROBE_BYTES = 65_536


def low_disk_bytes(directory: Path) -> int | None:
    """Return the free space of a directory's disk if that is almost full, and 0 if nothing can be written.

    A file is written, because a file system does not report the quota of a user.
    """
    probe = directory / f".space-{os.getpid()}"
    try:
        probe.write_bytes(bytes(PROBE_BYTES))
        state = os.statvfs(directory)
    except OSError as error:
        return 0 if error.errno in (errno.ENOSPC, errno.EDQUOT) else None
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
    free = state.f_bavail * state.f_frsize
    return max(1, free) if free < LOW_DISK_BYTES else None


CHECK_SECONDS = 120
# A separate process: the worker needs neither torch's memory nor a CUDA context.
CHECK = "import torch; print(torch.version.cuda is not None, torch.cuda.is_available())"
INSTEAD = "For a worker without a GPU, use --queue cpu."


def gpu_problem(check: str = CHECK) -> str | None:
    """Return why runs of the GPU queue cannot train here and how to fix it, or None if they can."""
    try:
        result = subprocess.run(
            [sys.executable, "-c", check], capture_output=True, text=True, timeout=CHECK_SECONDS, check=True
        )
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no output"])[-1]
        return f"PyTorch does not start: {last}. Install Arcadia's packages for training again."
    except subprocess.TimeoutExpired:
        return f"PyTorch did not answer within {CHECK_SECONDS} s. Check the GPU with nvidia-smi."
    built_for_cuda, available = (word == "True" for word in result.stdout.split()[-2:])
    if available:
        return None
    if not built_for_cuda:
        return (
            "The queue is gpu, but the installed PyTorch is a CPU build. Install a build with CUDA; for Docker, "
            f"build the service worker-gpu, which does so. {INSTEAD}"
        )
    return (
        "The queue is gpu, but PyTorch finds no GPU. Check that nvidia-smi lists one on the host. In a container, "
        "install the NVIDIA container toolkit and start the worker with: docker compose --profile gpu up. "
        f"{INSTEAD}"
    )


# A killed worker's leash releases the directory as soon as its trainer is dead.
LOCK_SECONDS = 10.0
# The backend considers a worker gone after 15 seconds of silence.
NAME_SECONDS = 20.0
RETRY_SECONDS = 0.5

TRAINER_MODULE = "arcadia_workers.trainer"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerDirectory:
    """A locked directory, with the descriptor of the lock and the previous holder's process id."""

    directory: Path
    descriptor: int
    predecessor: int | None


def lock_directory(directory: Path, *, shared: bool) -> WorkerDirectory:
    """Lock the directory for this process and its trainers, or a free subfolder if it is shared."""
    deadline = time.monotonic() + LOCK_SECONDS
    while (place := try_lock(directory)) is None:
        if time.monotonic() > deadline:
            if not shared:
                sys.exit(f"arcadia worker: another worker uses {directory}. Choose another --worker-dir.")
            return next(place for number in count(2) if (place := try_lock(directory / f"worker-{number}")))
        time.sleep(0.1)
    return place


def try_lock(directory: Path) -> WorkerDirectory | None:
    """Lock a directory. Return None if another process has locked it."""
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    noted = os.pread(descriptor, 20, 0)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return WorkerDirectory(directory, descriptor, int(noted) if noted.isdigit() else None)


def candidates(given: str | None, host: str) -> Iterator[str]:
    """Yield the names to try: only the given one, or the host's name with increasing numbers."""
    if given is not None:
        yield given
        return
    yield host
    for number in count(2):
        yield f"{host}-{number}"


def take_name(given: str | None, host: str, register: Callable[[str], object]) -> str:
    """Register this worker under an unused name, or exit. Raise WrongTokenError if the backend rejects the token."""
    deadline = time.monotonic() + NAME_SECONDS
    for name in candidates(given, host):
        while True:
            try:
                register(name)
            except NameTakenError as error:
                if given is None:
                    break
                if time.monotonic() > deadline:
                    sys.exit(f"arcadia worker: {error} Choose another --name, or omit --name.")
                time.sleep(RETRY_SECONDS)
            except WrongTokenError:
                raise
            except BackendError as error:
                log.warning("The worker is not registered yet: %s", error)  # heartbeats retry
                return name
            else:
                return name
    raise AssertionError("there is always another name")
