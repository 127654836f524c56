"""A peer's server: started in its own process group, and stopped together with its child processes."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

START_SECONDS = 180.0
STOP_SECONDS = 20.0


@contextmanager
def server(command: Sequence[str], url: str, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Start a server in a folder, wait until it responds, and yield its address."""
    log = folder / "server.log"
    with log.open("a") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        wait_until_it_answers(process, url, log)
        yield url
    finally:
        stop_group(process)


def wait_until_it_answers(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait for the first response. Raise with the server's output if it ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(url, trust_env=False, timeout=10).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise RuntimeError(f"{process.args!r} does not answer:\n{log.read_text()[-3000:]}")


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and the processes of its group."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"{process.args!r} did not end in {STOP_SECONDS:.0f} s and is killed")
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
