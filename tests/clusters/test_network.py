"""A worker on a node that reaches nothing but the port of the server."""

import asyncio
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clusters.isolated import join
from tests.clusters.runs import SHORT, submit, wait_for_job
from tests.clusters.slurm_cluster import SlurmCluster
from tests.installation import Installation

pytestmark = pytest.mark.nightly

ISOLATED = Path(__file__).parent / "isolated.py"
# It exits with 0 if no connection is possible.
REACHES_NOTHING = """
import socket, sys
for address in [("127.0.0.1", int(sys.argv[1])), ("1.1.1.1", 443)]:
    try:
        socket.create_connection(address, timeout=5)
    except OSError:
        continue
    sys.exit(f"{address} is reachable")
"""


@pytest.fixture
def gate(installation: Installation, tmp_path: Path) -> Iterator[Path]:
    """Yield a socket in the file system that forwards to the server."""
    path, loop = tmp_path / "gate", asyncio.new_event_loop()

    async def serve() -> None:
        connect = lambda: asyncio.open_connection("127.0.0.1", installation.port)  # noqa: E731
        await asyncio.start_unix_server(lambda reader, writer: join(reader, writer, connect), path)

    loop.run_until_complete(serve())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield path
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def test_a_worker_needs_only_the_port_of_the_server(
    installation: Installation, slurm: SlurmCluster, gate: Path, tmp_path: Path
) -> None:
    isolated = [sys.executable, str(ISOLATED), str(gate), str(installation.port)]
    tried = subprocess.run([*isolated, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"network namespaces are not allowed here: {tried.stderr[-200:]}")
    redis = installation.redis.url.rpartition(":")[2].partition("/")[0]
    subprocess.run([*isolated, sys.executable, "-c", REACHES_NOTHING, redis], check=True)
    programs = tmp_path / "programs"
    programs.mkdir()
    arcadia = Path(sys.executable).parent / "arcadia"
    (programs / "arcadia").write_text(f'#!/bin/sh\nexec {shlex.join([*isolated, str(arcadia)])} "$@"\n')
    (programs / "arcadia").chmod(0o755)
    usual = slurm.settings(f"http://127.0.0.1:{installation.port}")
    wanted = {**usual, "prepare": f"{usual['prepare']}\nexport PATH={programs}:$PATH"}
    installation.http.put("executors/slurm", json=wanted).raise_for_status()
    run = submit(installation, SHORT)
    finished = installation.wait_for_state(run, "finished")
    assert (finished["attempt"], finished["step"] >= SHORT["total_steps"]) == (1, True)
    assert [row for row in installation.read(f"runs/{run}/checkpoints") if row["available"]]
    assert wait_for_job(installation, run, state="ended")["scheduler_state"] == "COMPLETED"
    installation.http.put("executors/slurm", json=usual).raise_for_status()
