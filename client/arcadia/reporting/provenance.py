"""Collection of the provenance of a process: code, packages, host, command and environment variables.

It uses only Python's standard library, because both scripts and Arcadia's trainer use it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError
from arcadia.reporting.journal import is_writer_alive
from arcadia.reporting.layout import JournalDirectory, WriterFiles, replace_file
from arcadia.reporting.system_metrics import SystemRecorder, records_system_metrics
from arcadia.reporting.values import encode_event
from arcadia.version import client_version

# A provenance is one event, which must fit into a line of the event file.
MAX_DIFF_BYTES = 1_000_000
MAX_UNTRACKED = 1_000
GIT_SECONDS = 20
# More than the longest diff, and enough for the names of all untracked files.
MAX_OUTPUT_BYTES = 4 * MAX_DIFF_BYTES
# Diffs may hold any byte. Control characters would make the event's line several times longer.
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f]")
_NO_BRANCH = "(detached)"
_TRACKED = ("1 ", "2 ", "u ")
_UNTRACKED = "? "


class CheckoutError(ArcadiaError):
    """Git cannot describe the checkout."""


@dataclass(frozen=True)
class CheckoutState:
    """A commit with the changes since then. `branch` is None if none is checked out."""

    commit: str
    branch: str | None
    # Whether tracked files differ from the commit, or untracked files exist.
    dirty: bool
    # Whether the diff is longer than the part that is kept.
    diff_cut: bool
    untracked: list[str] = field(default_factory=list)
    diff: str = ""


def find_checkout(folder: Path) -> Path | None:
    """Return the root of the checkout that a folder is in, or None."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def read_checkout(root: Path) -> CheckoutState | None:
    """Return the state of the checkout at `root`, or None if it is not one. Raise CheckoutError if git fails."""
    if not (root / ".git").exists():
        return None
    status = _git(root, "status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z").split("\0")
    facts = dict(line[2:].split(" ", 1) for line in status if line.startswith("# ") and " " in line[2:])
    untracked = [line[2:] for line in status if line.startswith(_UNTRACKED)]
    is_changed = any(line.startswith(_TRACKED) for line in status)
    diff, is_cut = "", False
    if is_changed:
        whole = _CONTROL.sub("\ufffd", _git(root, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD"))
        diff = whole.encode()[:MAX_DIFF_BYTES].decode(errors="ignore")
        is_cut = len(diff) < len(whole)
    branch = facts["branch.head"]
    return CheckoutState(
        commit=facts["branch.oid"],
        branch=None if branch == _NO_BRANCH else branch,
        dirty=is_changed or bool(untracked),
        diff_cut=is_cut,
        untracked=untracked[:MAX_UNTRACKED],
        diff=diff,
    )


def _git(root: Path, *arguments: str) -> str:
    """Return the start of a git command's output. The command neither locks nor changes the checkout."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-C", str(root), "-c", "core.fsmonitor=false", *arguments]
    # A diff can be larger than the memory, so it does not pass through a pipe.
    with tempfile.TemporaryFile() as output:
        try:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                env={**variables, "LC_ALL": "C"},
                timeout=GIT_SECONDS,
                check=True,
            )
        except FileNotFoundError:
            raise CheckoutError("git is not installed, so the state of the checkout is unknown.") from None
        except subprocess.TimeoutExpired:
            raise CheckoutError(f"git {arguments[0]} took more than {GIT_SECONDS} seconds.") from None
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip()
            raise CheckoutError(f"git {arguments[0]} failed: {said}") from None
        output.seek(0)
        return output.read(MAX_OUTPUT_BYTES).decode(errors="replace")


CPUINFO = Path("/proc/cpuinfo")
COMMAND_SECONDS = 10


@dataclass(frozen=True)
class Gpu:
    """A GPU of the host."""

    name: str
    memory_bytes: int


@dataclass(frozen=True)
class GpuFacts:
    """The GPUs of the host with their driver and the newest CUDA version that it supports."""

    gpus: list[Gpu] = field(default_factory=list)
    driver: str | None = None
    cuda: str | None = None


def describe_os() -> str:
    """Return the operating system with its kernel, such as Debian GNU/Linux 12 (Linux 6.1.0, x86_64)."""
    kernel = f"{platform.system()} {platform.release()}, {platform.machine()}"
    try:
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']} ({kernel})"
    except (OSError, KeyError):
        return kernel


def describe_cpu(cpuinfo: Path = CPUINFO) -> str:
    """Return the model of the processor, or its architecture if the system does not name the model."""
    if cpuinfo.exists():
        fields = (line.partition(":") for line in cpuinfo.read_text().splitlines())
        return next((value.strip() for name, _, value in fields if name.strip() == "model name"), platform.machine())
    if platform.system() == "Darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
        return done.stdout.strip() or platform.machine()
    return platform.processor() or platform.machine()


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_gpus() -> GpuFacts:
    """Return the GPUs that NVIDIA's management library knows, or that nvidia-smi lists without it."""
    try:
        import pynvml
    except ImportError:
        return _list_gpus()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return GpuFacts()
    try:
        return _read_gpus(pynvml)
    finally:
        pynvml.nvmlShutdown()


def _read_gpus(pynvml: Any) -> GpuFacts:
    handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
    gpus = [Gpu(pynvml.nvmlDeviceGetName(handle), pynvml.nvmlDeviceGetMemoryInfo(handle).total) for handle in handles]
    version = pynvml.nvmlSystemGetCudaDriverVersion_v2()
    return GpuFacts(gpus, pynvml.nvmlSystemGetDriverVersion(), f"{version // 1000}.{version % 1000 // 10}")


def _list_gpus() -> GpuFacts:
    command = ["nvidia-smi", "--query-gpu=memory.total,driver_version,name", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=True)
        rows = [line.split(", ", 2) for line in done.stdout.splitlines() if line]
        gpus = [Gpu(name, int(mebibytes) * 2**20) for mebibytes, _, name in rows]
    except (OSError, subprocess.SubprocessError, ValueError):
        return GpuFacts()
    return GpuFacts(gpus, rows[0][1] if rows else None)


_NAME = re.compile(r"^Name: *(.+?)\s*$", re.MULTILINE)
_VERSION = re.compile(r"^Version: *(.+?)\s*$", re.MULTILINE)


def installed_packages() -> dict[str, str]:
    """Return the version of each package that Python can import, by name.

    Only the head of the metadata is read. Parsing all of it takes ten times as long, in which no other thread runs.
    """
    packages: dict[str, str] = {}
    for distribution in metadata.distributions():
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
        head = text.partition("\n\n")[0]
        name, version = _NAME.search(head), _VERSION.search(head)
        if name and version:  # the remains of a package that was removed have neither
            packages.setdefault(name[1], version[1])  # the first one on the path is imported
    return dict(sorted(packages.items(), key=lambda package: package[0].lower()))


PREFIXES = (
    "ARCADIA_",
    "CUBLAS_",
    "CUDA_",
    "CUDNN_",
    "GOMP_",
    "KMP_",
    "MALLOC_",
    "MKL_",
    "MUJOCO_",
    "NCCL_",
    "NVIDIA_",
    "OMP_",
    "ONEDNN_",
    "OPENBLAS_",
    "PYTORCH_",
    "RAY_",
    "TORCH_",
)
NAMES = ("LD_PRELOAD", "PYTHONHASHSEED", "PYTHONPATH", "SDL_VIDEODRIVER")
# NVIDIA's images list the drivers that they accept in a kilobyte.
IGNORED = ("NVIDIA_REQUIRE_CUDA",)
# A variable with one of these words in its name may hold a secret.
SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "KEY", "BROKER", "DATABASE", "REDIS", "AUTH")
MAX_LENGTH = 1_000

_ACCOUNT = re.compile(r"(?<=://)[^/@\s]*@")


def relevant_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that affect training, without secrets. Accounts are removed from addresses."""
    return {
        name: _ACCOUNT.sub("", value)[:MAX_LENGTH]
        for name, value in sorted(environment.items())
        if (name.startswith(PREFIXES) or name in NAMES) and name not in IGNORED and not _may_be_secret(name)
    }


def _may_be_secret(name: str) -> bool:
    return any(word in name.upper() for word in SECRET_WORDS)


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
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        **dataclasses.asdict(read_gpus()),
        "command": script["command"],
        "environment": script["environment"],
        "packages": installed_packages(),
        "diff": diff,
    }


UNKNOWN = "The code and packages of this script are unknown, because its host could not record them."


def record_provenance(files: WriterFiles) -> None:
    """Write the first event of a writer, unless it exists."""
    if files.provenance.exists():
        return
    description = json.loads(files.description.read_text())
    # A copy of the journal records it again, and must not get another event.
    started_at = datetime.fromisoformat(description["registration"]["started_at"]).timestamp()
    replace_file(files.provenance, encode_event(_describe(description), started_at))
    if not files.description.exists():  # the writer was discarded in the meantime
        files.provenance.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            files.provenance.parent.rmdir()


def _describe(description: dict[str, Any]) -> dict[str, Any]:
    """Return the event. On another host, or if the facts cannot be read, it is a log line with the reason."""
    if description["registration"]["host"] != socket.gethostname():
        return {"kind": "log", "level": "info", "message": UNKNOWN}
    try:
        return {"kind": "provenance", "provenance": collect_provenance(description["script"])}
    except (OSError, ValueError, KeyError) as error:
        return {"kind": "log", "level": "warning", "message": f"{UNKNOWN} ({type(error).__name__}: {error})"}


def main() -> int:
    """Record the provenance of one writer, and its system metrics until it ends."""
    directory = JournalDirectory(Path(sys.argv[1]))
    files = directory.of_writer(sys.argv[2])
    record_provenance(files)
    if files.description.exists() and records_system_metrics(files):
        SystemRecorder(directory).run(lambda: is_writer_alive(files.lock))
    return 0


if __name__ == "__main__":
    sys.exit(main())
