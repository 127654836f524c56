"""Scripts that log runs during a storm. A script that was killed is started again and continues its run."""

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from tests.installation import REPOSITORY, Installation
from tests.workers.waiting import PATIENCE_SECONDS

NAMES = ("script-1", "script-2")
# Each point has a number of its own, so that a lost or doubled one is noticed.
PROGRAM = """
import arcadia, sys, time
run = arcadia.init("storm", id=sys.argv[1])
while True:
    run.log({"number": run.step + 1})
    time.sleep(0.02)
"""


class Scripts:
    """Two endless scripts, their journals, and their runs in the backend."""

    def __init__(self, installation: Installation, directory: Path) -> None:
        self._installation, self._journals = installation, directory / "journals"
        address = {"ARCADIA_URL": f"http://127.0.0.1:{installation.port}", "ARCADIA_JOURNALS": str(self._journals)}
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
        self._environment |= address
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._output = directory / "scripts.output"

    def keep_running(self) -> str | None:
        """Start the scripts that do not run. Return the name of one, or None if all run."""
        missing = [name for name in NAMES if name not in self._processes or self._processes[name].poll() is not None]
        for name in missing:
            with self._output.open("a") as output:
                self._processes[name] = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, name],
                    env=self._environment,
                    cwd=REPOSITORY / "client",
                    stdout=output,
                    stderr=output,
                )
        return missing[0] if missing else None

    def process(self, number: int) -> psutil.Process | None:
        """Return the process of a script, or None if it does not run."""
        script = self._processes.get(NAMES[number % len(NAMES)])
        return psutil.Process(script.pid) if script and script.poll() is None else None

    def has(self, process: psutil.Process) -> bool:
        """Return True if a process is one of the scripts."""
        return process.pid in [script.pid for script in self._processes.values()]

    def logged(self) -> dict[str, int]:
        """Return the number of points in the journal of each script."""
        return {name: len(self._points(name)) for name in NAMES}

    def have_arrived(self, goal: dict[str, int]) -> bool:
        """Return True if the backend has more points of each script than this."""
        steps = {run["reported_key"]: run["step"] for run in self._runs()}
        return all(steps.get(name, -1) >= count for name, count in goal.items())

    def uploaders(self) -> list[psutil.Process]:
        """Return the processes that upload the journals. They outlive their scripts until everything is uploaded."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or []
            if "arcadia.reporting.uploader" in words and any(str(self._journals) in word for word in words):
                found.append(process)
        return found

    def end(self) -> None:
        """Kill the scripts and their uploaders, and upload the rest as a user does after a crash."""
        self.close()
        for process in self.uploaders():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has uploaded everything
                process.kill()
                process.wait(PATIENCE_SECONDS)
        command = [sys.executable, "-m", "arcadia", "sync", str(self._journals)]
        subprocess.run(command, env=self._environment, cwd=REPOSITORY / "client", check=True, timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        """Kill the scripts."""
        for script in self._processes.values():
            script.kill()
            script.wait()

    def differences(self) -> tuple[int, list[str], list[str]]:
        """Return the number of points, the lost ones and the doubled ones, after `end`."""
        runs = {run["reported_key"]: run["id"] for run in self._runs()}
        count, lost, doubled = 0, list[str](), list[str]()
        for name in NAMES:
            logged = Counter(self._points(name))
            rows = self._installation.points(runs[name])
            stored = Counter((row["step"], float(row["value"])) for row in rows if row["name"] == "number")
            count += logged.total()
            lost += [f"{name}: {point}" for point in (logged - stored).elements()]
            doubled += [f"{name}: {point}" for point in (stored - logged).elements()]
        return count, lost, doubled

    def _runs(self) -> list[dict[str, Any]]:
        page = self._installation.read("runs?limit=1000&include=reported_key")
        return [run for run in page["items"] if run.get("reported_key") in NAMES]

    def _points(self, name: str) -> list[tuple[int, float]]:
        lines = [line for file in sorted((self._journals / name).glob("*.jsonl")) for line in file.open()]
        # The script may be writing the last line.
        events = [json.loads(line) for line in lines if line.endswith("\n")]
        points = [event for event in events if event["kind"] == "metrics" and "number" in event["values"]]
        return [(event["step"], float(event["values"]["number"])) for event in points]
