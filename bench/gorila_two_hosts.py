"""Train Gorila on two hosts, one of which is cut off and reconnected: `python -m bench.gorila_two_hosts`, as root.

The hosts are network namespaces of this machine. Each has an address and a Ray node, and a virtual cable connects them.
The program sets up both hosts and removes them at the end. Its exit status is 0 if the run survived.
"""

import argparse
import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from arcadia_workers.contract.config import GorilaConfig

HOSTS = {"arcadia-a": "10.77.0.1", "arcadia-b": "10.77.0.2"}
HEAD, OTHER = HOSTS
ADDRESS = f"{HOSTS[HEAD]}:6379"
CABLE = {"arcadia-a": "cable-a", "arcadia-b": "cable-b"}
# With these, Ray notices a lost host within seconds instead of a minute.
HEALTH = {"health_check_initial_delay_ms": 2000, "health_check_period_ms": 1000, "health_check_timeout_ms": 2000}
CONFIG = GorilaConfig(
    env="CartPole-v1",
    total_steps=10**9,
    num_actors=2,
    num_learners=2,
    num_shards=2,
    replay_frames=20_000,
    learning_starts=200,
    epsilon_anneal_updates=2000,
    checkpoint_seconds=10,
)


class Failed(Exception):  # noqa: N818, the name says what happened
    """Unexpected behavior of the run."""


def ip(*arguments: str) -> None:
    """Run `ip` with these arguments."""
    subprocess.run(["ip", *arguments], check=True)


@contextlib.contextmanager
def network() -> Iterator[None]:
    """Set up two namespaces and a cable, and remove them at the end."""
    remove_network()
    for name in HOSTS:
        ip("netns", "add", name)
    ip("link", "add", CABLE[HEAD], "netns", HEAD, "type", "veth", "peer", "name", CABLE[OTHER], "netns", OTHER)
    for name, address in HOSTS.items():
        ip("-n", name, "address", "add", f"{address}/24", "dev", CABLE[name])
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "link", "set", CABLE[name], "up")
    try:
        yield
    finally:
        remove_network()


def remove_network() -> None:
    """Delete the namespaces and the cable."""
    for name in HOSTS:
        subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)


class Hosts:
    """The programs on the two hosts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []
        self._environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "ARCADIA_RAY_ADDRESS": ADDRESS,
            "OMP_NUM_THREADS": "1",
        }

    def start(self, host: str, *command: str) -> subprocess.Popen[bytes]:
        """Run a program on a host."""
        log = (self._folder / f"{host}-{len(self._running)}.log").open("wb")
        program = subprocess.Popen(
            ["ip", "netns", "exec", host, *command],
            env=self._environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._running.append(program)
        return program

    def ray(self, host: str) -> subprocess.Popen[bytes]:
        """Start a host's Ray node."""
        place = (
            ["--head", "--port=6379", "--include-dashboard=false", f"--temp-dir={self._folder / 'ray'}"]
            if host == HEAD
            else [f"--address={ADDRESS}"]
        )
        if host == HEAD:
            place.append(f"--system-config={json.dumps(HEALTH)}")
        command = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--disable-usage-stats", *place]
        return self.start(
            host, *command, f"--node-ip-address={HOSTS[host]}", "--num-cpus=1", "--object-store-memory=100000000"
        )

    def close(self) -> None:
        """Kill all programs and their child processes."""
        for host in HOSTS:
            inside = subprocess.run(["ip", "netns", "pids", host], check=False, capture_output=True, text=True).stdout
            for pid in inside.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        for program in self._running:
            program.wait()


class RunDirectory:
    """The state of the run, read from its events."""

    def __init__(self, path: Path, trainer: subprocess.Popen[bytes]) -> None:
        self.path, self._trainer = path, trainer

    @property
    def events(self) -> list[dict[str, object]]:
        """Read all complete events."""
        file = self.path / "events.jsonl"
        return [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]] if file.exists() else []

    @property
    def step(self) -> int:
        """Return the step that the run has reached."""
        return max((int(str(event["step"])) for event in self.events), default=0)

    @property
    def log(self) -> list[str]:
        """Return the lines of the run's log."""
        return [str(event["message"]) for event in self.events if event["kind"] == "log"]

    def wait_for(self, what: str, condition: Callable[[], bool], seconds: float) -> None:
        """Wait until a condition is true, and print the time."""
        began = time.monotonic()
        while not condition():
            if self._trainer.poll() is not None:
                raise Failed(f"the trainer ended with status {self._trainer.returncode} while waiting: {what}")
            if time.monotonic() - began > seconds:
                raise Failed(f"waited {seconds:.0f} seconds in vain: {what}")
            time.sleep(0.2)
        print(f"{time.monotonic() - began:6.1f} s until {what} (step {self.step:,})", flush=True)


def rehearse(folder: Path, patience: float) -> None:
    """Start a run on both hosts, cut one off and reconnect it."""
    hosts = Hosts(folder)
    try:
        hosts.ray(HEAD)
        wait_until_listening(patience)
        other = hosts.ray(OTHER)
        config = folder / "config.json"
        config.write_text(CONFIG.model_dump_json())
        if hosts.start(HEAD, *nodes_command()).wait(timeout=patience) != 0:
            raise Failed("Ray did not start on both hosts")
        command = [
            sys.executable,
            "-m",
            "arcadia_workers.trainer",
            str(config),
            "--dir",
            str(folder / "run"),
            "--no-progress-bar",
        ]
        trainer = hosts.start(HEAD, *command)
        run = RunDirectory(folder / "run", trainer)

        run.wait_for("roles on both hosts", lambda: any(all(a in x for a in HOSTS.values()) for x in run.log), patience)
        run.wait_for("1,000 steps", lambda: run.step > 1000, patience)

        ip("-n", OTHER, "link", "set", CABLE[OTHER], "down")
        run.wait_for(
            "a lost role is replaced", lambda: any("empty replay memory" in line for line in run.log), patience
        )
        step = run.step
        run.wait_for("1,000 steps more without the host", lambda: run.step > step + 1000, patience)

        ip("-n", OTHER, "link", "set", CABLE[OTHER], "up")
        with contextlib.suppress(subprocess.TimeoutExpired):
            other.wait(timeout=20)  # its Ray node ends when the cluster reports it dead
        other.kill()
        hosts.ray(OTHER)
        run.wait_for("roles are back on the host", lambda: any("came back" in line for line in run.log), patience)
        step = run.step
        run.wait_for("1,000 steps more with it", lambda: run.step > step + 1000, patience)

        trainer.terminate()
        if trainer.wait(timeout=30) != 0:
            raise Failed(f"the trainer ended with status {trainer.returncode}")
        steps = [int(str(event["step"])) for event in run.events if event["kind"] in ("metrics", "progress", "stopped")]
        if steps != sorted(steps):
            raise Failed("a counter decreased")
    finally:
        for line in RunDirectory(folder / "run", subprocess.Popen(["true"])).log:
            print(f"       log: {line}")
        hosts.close()


def nodes_command() -> list[str]:
    """Return the command of a program that ends when both hosts are in the cluster."""
    program = (
        f"import ray, time; ray.init(address='{ADDRESS}', log_to_driver=False)\n"
        "while sum(node['Alive'] for node in ray.nodes()) < 2: time.sleep(0.2)"
    )
    return [sys.executable, "-c", program]


def wait_until_listening(patience: float) -> None:
    """Wait until Ray listens on the first host."""
    deadline = time.monotonic() + patience
    while True:
        found = subprocess.run(["ip", "netns", "exec", HEAD, "ss", "-ltn"], check=True, capture_output=True, text=True)
        if ":6379 " in found.stdout:
            return
        if time.monotonic() > deadline:
            raise Failed("Ray did not start on the first host")
        time.sleep(0.2)


def main() -> int:
    """Run the rehearsal, and return status 0 if the run survived."""
    parser = argparse.ArgumentParser(prog="python -m bench.gorila_two_hosts", description=__doc__)
    parser.add_argument("--patience", type=float, default=300.0, help="seconds to wait for each thing to happen")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("network namespaces need root: run it with sudo")
    folder = Path(tempfile.mkdtemp(prefix="arcadia-two-hosts-"))
    try:
        with network():
            rehearse(folder, options.patience)
    except Failed as failure:
        print(f"FAILED: {failure}; the logs are in {folder}")
        return 1
    if not options.keep:
        shutil.rmtree(folder)
    print("The run survived.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
