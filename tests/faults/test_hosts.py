"""Three hosts in network namespaces that joined one server over HTTPS alone, and what may happen to them."""

import asyncio
import os
import random
import shlex
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clusters.isolated import join
from tests.faults.cable import Cable
from tests.installation import REPOSITORY, SAVING, Installation, Service

pytestmark = pytest.mark.nightly

NAMES = ("sun", "moon", "star")
# The hosts differ in their names too.
NAMED = ("unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"')
KILLS = 30
RETURN_SECONDS = 30.0


def make_certificate(folder: Path, addresses: list[str]) -> tuple[Path, Path]:
    """Return a certificate for addresses, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    names = ",".join(f"IP:{address}" for address in addresses)
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=arcadia"]
    made += ["-addext", f"subjectAltName={names}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    return certificate, key


class Lab:
    """An installation on loopback, behind HTTPS at this end of each host's cable."""

    def __init__(self, installation: Installation, folder: Path, cables: dict[str, Cable]) -> None:
        self.installation, self.folder, self.cables = installation, folder, cables
        addresses = [cable.here for cable in cables.values()]
        self.certificate, key = make_certificate(folder, addresses)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.certificate, key)
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self._serve(addresses))
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.services: dict[str, Service] = {}

    async def _serve(self, addresses: list[str]) -> None:
        connect = lambda: asyncio.open_connection("127.0.0.1", self.installation.port)  # noqa: E731
        for address in addresses:
            await asyncio.start_server(
                lambda reader, writer: join(reader, writer, connect),
                address,
                self.installation.port,
                ssl=self._context,
            )

    def url(self, name: str) -> str:
        """Return the address of the server for a host."""
        return f"https://{self.cables[name].here}:{self.installation.port}"

    def environment(self, name: str, **more: str) -> dict[str, str]:
        """Return the environment of a host, which has no settings of Arcadia but those given."""
        own = {each: value for each, value in os.environ.items() if not each.startswith("ARCADIA_")}
        home = str(self.folder / name)
        own |= {"XDG_CONFIG_HOME": home, "ARCADIA_DATA_DIR": home, "ARCADIA_KEEP_READY": "false"}
        return own | more

    def join(self, name: str) -> None:
        """Join by the command of the page Workers, with a certificate authority of this test."""
        (self.folder / name).mkdir(exist_ok=True)
        commands = self.installation.post("host-codes")["commands"]
        [command] = [shlex.split(each) for each in commands if " worker join " in each]
        code = command[command.index("join") + 2]
        program = [sys.executable, "-m", "arcadia_workers.worker", "join", self.url(name), code]
        program += ["--ca-file", str(self.certificate)]
        self._run(name, program)

    def _run(self, name: str, program: list[str]) -> None:
        where = [*self.cables[name].prefix, *NAMED, name]
        subprocess.run([*where, *program], check=True, env=self.environment(name), cwd=REPOSITORY)

    def start(self, name: str, **settings: str) -> None:
        """Start the worker of a host, as `arcadia worker` does."""
        directory = self.installation.directory / "workers" / name
        program = ["arcadia_workers.worker", "--worker-dir", str(directory), "--name", name]
        prefix = (*self.cables[name].prefix, *NAMED, name)
        environment = self.environment(name, **settings)
        service = Service(name, program, environment, self.folder, 15, prefix)
        self.services[name] = self.installation.workers[name] = service
        service.start()
        self.wait_for(name, "idle", "busy")

    def wait_for(self, name: str, *states: str) -> None:
        """Wait for a state on the page."""
        self.installation.wait_until(lambda: self.installation.state_of_worker(name) in states)

    def worker(self, name: str) -> dict[str, object]:
        """Return a worker as the page shows it."""
        [found] = [each for each in self.installation.read("workers") if each["name"] == name]
        return dict(found)

    def close(self) -> None:
        """Stop the proxy with its connections."""

        async def cancel_all() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(cancel_all(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """Yield three joined hosts whose workers wait, and an installation without Redis for them."""
    cables = {name: Cable() for name in NAMES}
    plugged = []
    try:
        for cable in cables.values():
            cable.plug()
            plugged.append(cable)
        hosts = ",".join(cable.here for cable in cables.values())
        (tmp_path / "server").mkdir()
        with Installation(tmp_path / "server", allowed_hosts=hosts, lease_seconds=8) as installation:
            lab = Lab(installation, tmp_path, cables)
            try:
                for name in NAMES:
                    lab.join(name)
                    lab.start(name)
                yield lab
            finally:
                lab.close()
    finally:
        for cable in plugged:
            cable.remove()


def test_hosts_are_drained_cut_off_updated_and_revoked(lab: Lab) -> None:
    installation = lab.installation
    assert {lab.worker(name)["host"] for name in NAMES} == {*NAMES}
    runs = [installation.launch(**SAVING) for _ in range(3)]
    for run in runs:
        installation.wait_for_checkpoint(run)
    trained_by = {str(installation.run(run)["worker"]): run for run in runs}
    assert {*trained_by} == {*NAMES}
    # Drained: its run is saved and waits, since the other hosts are busy.
    installation.http.patch("workers/sun", json={"desired": "drain"}).raise_for_status()
    drained = trained_by["sun"]
    installation.wait_for_state(drained, "queued")
    assert lab.worker("sun")["desired"] == "drain"
    installation.http.patch("workers/sun", json={"desired": "work"}).raise_for_status()
    installation.wait_until(lambda: installation.run(drained)["state"] == "running")
    # Cut off: the page shows it as gone, and it continues the same attempt afterwards.
    cut_off = trained_by["moon"]
    attempt = installation.run(cut_off)["attempt"]
    lab.cables["moon"].cut()
    lab.wait_for("moon", "gone")
    installation.wait_for_state(cut_off, "queued")
    # Training goes on without the server.
    written = len(installation.journals.events(cut_off, attempt))
    installation.wait_until(lambda: len(installation.journals.events(cut_off, attempt)) > written + 20)
    lab.cables["moon"].mend()
    installation.wait_until(lambda: installation.run(cut_off)["state"] == "running")
    assert installation.run(cut_off)["attempt"] == attempt
    installation.wait_for_points(cut_off, attempt)
    # A host that comes back with another version is marked, and still trains.
    lab.services["star"].end(signal.SIGTERM)
    lab.wait_for("star", "gone")
    lab.start("star", ARCADIA_BUILD="0.0.9+old")
    assert lab.worker("star")["is_other_build"] is True
    installation.wait_until(lambda: installation.run(trained_by["star"])["state"] == "running")
    # A connected host cannot be removed. Without its token, it gives its run back and ends.
    refused = installation.http.delete("workers/star")
    assert (refused.status_code, "Stop its process first" in refused.text) == (409, True)
    tokens = [each for each in installation.read("tokens?everyone=true") if each["name"] == "star"]
    installation.http.delete(f"tokens/{tokens[0]['id']}").raise_for_status()
    installation.wait_until(lambda: lab.services["star"].ended is not None)
    lab.wait_for("star", "gone")
    assert installation.http.delete("workers/star").status_code == 204
    for run in runs:
        installation.post(f"runs/{run}/stop")
        installation.wait_for_state(run, "stopped")
        installation.assert_points_kept(run, whole=set())


def test_thirty_kills_lose_nothing_and_double_nothing(lab: Lab) -> None:
    installation, drawn = lab.installation, random.Random(20)
    runs = [installation.launch(**SAVING) for _ in range(3)]
    for run in runs:
        installation.wait_until(lambda run=run: installation.points(run))  # type: ignore[misc]
    slowest = 0.0
    for _ in range(KILLS):
        part, name = drawn.choice(("worker", "trainer", "backend")), drawn.choice(NAMES)
        before = {run: max((row["step"] for row in installation.points(run)), default=0) for run in runs}
        if part == "backend":
            installation.backend.end()
            installation.backend.start()
        elif part == "worker":
            lab.services[name].end()
            lab.start(name)
        else:
            installation.trainer(name).kill()
        began = time.monotonic()
        for run in runs:
            installation.wait_until(
                lambda run=run, step=before[run]: max(row["step"] for row in installation.points(run)) > step  # type: ignore[misc]
            )
        slowest = max(slowest, time.monotonic() - began)
    assert slowest < RETURN_SECONDS
    for run in runs:
        installation.post(f"runs/{run}/stop")
        installation.wait_for_state(run, "stopped")
        installation.assert_points_kept(run, whole=set())
