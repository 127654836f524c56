"""`arcadia run` and `arcadia import-logs` with a real backend."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from arcadia import Client

from tests.client.reporting.conftest import Backend
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

POINTS = 400
PROGRAM = """
import sys, time
from tensorboardX import SummaryWriter

with SummaryWriter(sys.argv[1]) as writer:
    for step in range(400):
        writer.add_scalar("losses/value", step / 4, step)
        time.sleep(0.01)
        if step % 100 == 0:
            print("step", step)
"""


@pytest.mark.nightly
def test_every_point_of_a_writer_arrives_once_though_the_backend_is_killed(
    backend: Backend, client: Client, journals: Path, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "arcadia",
            "run",
            "--name",
            "tensorboard",
            "--",
            sys.executable,
            "-c",
            PROGRAM,
            tmp_path,
        ],
        env={"PATH": os.environ["PATH"], "ARCADIA_URL": backend.url, "ARCADIA_JOURNALS": str(journals)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:

        def stored() -> list[tuple[int, float]]:
            found = [run for run in client.runs() if run.name == "tensorboard"]
            series = found[0].metrics(["losses/value"]).to_lists() if found else {}
            steps, values = series.get("losses/value", ((), ()))
            return [(int(step), value) for step, value in zip(steps, values, strict=True)]

        wait_until(lambda: len(stored()) > 20)
        backend.kill()
        backend.start()
        output, _errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert output == "step 0\nstep 100\nstep 200\nstep 300\n"
    (run,) = client.runs()
    assert run.wait(PATIENCE_SECONDS).state == "finished"
    assert stored() == [(step, step / 4) for step in range(POINTS)]
    lines = [line.message for line in run.log()]
    assert [line for line in lines if line.startswith("step ")] == output.splitlines()


@pytest.mark.nightly
def test_logs_are_imported_once_and_continued(backend: Backend, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "progress.csv"
    file.write_text("step,episode/return\n1,10\n2,20\n")

    def import_logs() -> list[list[float]]:
        command = [sys.executable, "-m", "arcadia", "--url", backend.url, "import-logs", "--from", "csv", str(file)]
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
        (run,) = client.runs()
        assert (run.state, run.name) == ("finished", "progress")
        series = run.metrics(["episode/return"]).to_lists()["episode/return"]
        return [list(each) for each in series]

    assert import_logs() == import_logs() == [[1, 2], [10.0, 20.0]]
    with file.open("a") as more:
        more.write("3,30\n")
    assert import_logs() == [[1, 2, 3], [10.0, 20.0, 30.0]]
