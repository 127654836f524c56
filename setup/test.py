"""Run the Python tests and the frontend tests side by side, and summarize both."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
REPORTS = ROOT / ".setup"

# One process per core. Each takes whole files, in the order of the tests.
SIDE_BY_SIDE = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder"]

Outcomes = Counter[str]


def restore_interrupts() -> None:
    """Make SIGINT and SIGTERM raise KeyboardInterrupt. Shells ignore SIGINT for commands in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def run_python(arguments: list[str]) -> tuple[int, Outcomes]:
    """Run pytest and return its exit status and outcomes."""
    report = REPORTS / "pytest.xml"
    # With more threads per process, the processes compete for cores and training took 20 times as long.
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", f"--junitxml={report}", *arguments]
    status = subprocess.call(command, cwd=ROOT, env=environment)
    return status, agreeing(status, python_outcomes(report) if report.exists() else Counter())


def agreeing(status: int, outcomes: Outcomes) -> Outcomes:
    """Count an error for a test run that broke off without a failure."""
    return outcomes + Counter(error=1) if status and not outcomes["failed"] + outcomes["error"] else outcomes


def python_outcomes(report: Path) -> Outcomes:
    """Count the outcomes in a JUnit report."""
    outcomes: Outcomes = Counter()
    for case in ElementTree.parse(report).getroot().iter("testcase"):  # noqa: S314 - written by us a moment ago
        kinds = {child.tag for child in case}
        if "failure" in kinds:
            outcomes["failed"] += 1
        elif "error" in kinds:
            outcomes["error"] += 1
        else:
            outcomes["skipped" if "skipped" in kinds else "passed"] += 1
    return outcomes


def python_failures(report: Path) -> list[str]:
    """Return the names of the failed tests in a JUnit report."""
    if not report.exists():
        return []
    cases = ElementTree.parse(report).getroot().iter("testcase")  # noqa: S314 - written by us a moment ago
    return [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if {child.tag for child in case} & {"failure", "error"}
    ]


def start_frontend(output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start vitest with one worker, because the Python tests run at the same time."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is not on PATH. Use `make test`, which finds it.")
    reporters = ["--reporter=default", "--reporter=json", f"--outputFile.json={REPORTS / 'vitest.json'}"]
    command = [npm, "test", "--", *reporters]
    # An option would apply only to vitest itself, not to its projects.
    environment = os.environ | {"VITEST_MAX_WORKERS": "1"}
    # In its own process group, so that a signal also reaches the children of npm.
    return subprocess.Popen(
        command,
        cwd=ROOT / "frontend",
        env=environment,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def finish_frontend(vitest: subprocess.Popen[bytes], output: IO[bytes]) -> tuple[int, Outcomes]:
    """Wait for vitest, print its output, and return its exit status and outcomes."""
    status = vitest.wait()
    output.seek(0)
    shutil.copyfileobj(output, sys.stdout.buffer)
    report = REPORTS / "vitest.json"
    return status, agreeing(status, frontend_outcomes(report) if report.exists() else Counter())


def frontend_outcomes(report: Path) -> Outcomes:
    """Count the outcomes in vitest's JSON report. A file that fails to load counts as one error."""
    counted = json.loads(report.read_text())
    outcomes: Outcomes = Counter(
        passed=counted["numPassedTests"],
        failed=counted["numFailedTests"],
        skipped=counted["numPendingTests"] + counted["numTodoTests"],
    )
    for file in counted["testResults"]:
        if file["status"] == "failed" and not file["assertionResults"]:
            outcomes["error"] += 1
    return outcomes


def closing_line(outcomes: Outcomes, seconds: float) -> str:
    """Return the total in the format of pytest's last line."""
    kinds = [kind for kind in ("failed", "passed", "skipped", "error") if outcomes[kind]]
    counts = ", ".join(f"{outcomes[kind]} {kind}" for kind in kinds) or "no tests ran"
    return f" {counts} in {seconds:.2f}s ".center(100, "=")


def main() -> int:
    """Run the required tests, all tests with --all, or only pytest with other arguments."""
    restore_interrupts()
    REPORTS.mkdir(exist_ok=True)
    for stale in (REPORTS / "pytest.xml", REPORTS / "vitest.json"):
        stale.unlink(missing_ok=True)
    arguments = sys.argv[1:]
    if arguments and arguments != ["--all"]:
        return run_python(arguments)[0]
    began = time.monotonic()
    with tempfile.TemporaryFile() as output, start_frontend(output) as vitest:
        try:
            python_status, python = run_python(SIDE_BY_SIDE if arguments else [*SIDE_BY_SIDE, "--required"])
        except BaseException:
            os.killpg(vitest.pid, signal.SIGTERM)
            raise
        print(flush=True)
        frontend_status, frontend = finish_frontend(vitest, output)
    for name, status, outcomes in (("Python", python_status, python), ("Frontend", frontend_status, frontend)):
        verdict = "passed" if status == 0 else f"FAILED (exit status {status})"
        print(f"{name} tests {verdict}: {', '.join(f'{count} {kind}' for kind, count in outcomes.items() if count)}")
    for failure in python_failures(REPORTS / "pytest.xml"):
        print(f"FAILED {failure}")
    if not arguments:
        print("The tests of the nightly stage were skipped. `make test-all` runs them too.")
    print(closing_line(python + frontend, time.monotonic() - began))
    return python_status or frontend_status


if __name__ == "__main__":
    sys.exit(main())
