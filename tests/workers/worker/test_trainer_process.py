"""Tests for a trainer process on its leash: signals, endings, and complete cleanup."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from arcadia_workers.contract import leash
from arcadia_workers.worker.assignment import ending_of_trainer
from arcadia_workers.worker.trainer_process import TrainerProcess
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

# Starts a grandchild in a separate session, which a signal to the process group does not reach.
RUNAWAY = """
import subprocess, sys, time
runaway = subprocess.Popen(["sleep", "600"], start_new_session=True)
open(sys.argv[1], "w").write(str(runaway.pid))
time.sleep(float(sys.argv[2]))
"""


def start(directory: Path, code: str, *arguments: str) -> TrainerProcess:
    """Run Python code on a leash."""
    return TrainerProcess([sys.executable, "-c", code, *arguments], directory / "log")


def ended(process: TrainerProcess) -> int | None:
    """Wait until the process ends and return its exit status."""
    assert process.wait(PATIENCE_SECONDS)
    return process.returncode


def test_exit_status_and_signals_are_reported(tmp_path: Path) -> None:
    assert ended(start(tmp_path, "raise SystemExit(7)")) == 7
    assert ended(start(tmp_path, "import os; os.kill(os.getpid(), 11)")) == -11


def test_a_missing_program_is_a_failure_with_a_reason(tmp_path: Path) -> None:
    process = TrainerProcess([str(tmp_path / "missing")], tmp_path / "log")
    assert ended(process) == 1
    assert "missing" in process.stderr_tail()


def test_terminate_can_be_handled_but_kill_cannot(tmp_path: Path) -> None:
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
    process = start(tmp_path, deaf)
    wait_until(lambda: "ready" in process.stderr_tail())
    process.terminate()
    assert not process.wait(0.3)
    process.kill()
    assert ended(process) == -9


def test_signals_to_an_ended_program_are_ignored(tmp_path: Path) -> None:
    process = start(tmp_path, "")
    assert ended(process) == 0
    process.terminate()
    process.close()


def test_a_grandchild_in_a_separate_session_does_not_survive(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    assert ended(start(tmp_path, RUNAWAY, str(noted), "0")) == 0
    assert not psutil.pid_exists(int(noted.read_text()))


def sessions_have_niceness() -> bool:
    """Return True if this system schedules by session. Inside a container, the file may exist and be empty."""
    return leash.SESSION_NICENESS.exists() and bool(leash.SESSION_NICENESS.read_text())


@pytest.mark.skipif(not sessions_have_niceness(), reason="this system shares its cores without sessions")
def test_the_session_of_a_program_is_as_nice_as_the_worker() -> None:
    command = [sys.executable, leash.__file__, "cat", str(leash.SESSION_NICENESS)]
    holder = subprocess.Popen(
        ["nice", "-n", "7", *command], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert holder.wait(PATIENCE_SECONDS) == 0
    assert holder.stdin
    assert holder.stderr
    with holder.stdin, holder.stderr:
        assert holder.stderr.read().endswith(f"nice {min(19, os.nice(0) + 7)}\n")


def test_the_end_of_standard_error_is_kept_even_if_its_file_cannot_be_written(tmp_path: Path) -> None:
    process = TrainerProcess(
        [sys.executable, "-c", "import sys; [print(n, file=sys.stderr) for n in range(5000)]; sys.exit('the reason')"],
        tmp_path / "no such folder" / "log",
    )
    assert ended(process) == 1
    words = process.stderr_tail().splitlines()
    assert words[-2:] == ["4999", "the reason"]
    assert len(words) == 200


def test_the_program_leads_a_separate_process_group(tmp_path: Path) -> None:
    process = start(tmp_path, "import os; print(os.getpid() == os.getpgid(0), os.getpgid(0))")
    assert ended(process) == 0
    leads, group = process.stderr_tail().split()
    assert leads == "True"
    assert int(group) != os.getpgid(0)


SPEAKS = """
import sys
from pathlib import Path
from arcadia_workers.worker.trainer_process import TrainerProcess
words = "import sys; [sys.stderr.buffer.write(bytes([226, 134, 146]) * 1000 + bytes([10])) for _ in range(500)]"
process = TrainerProcess([sys.executable, "-c", words], Path(sys.argv[1]))
sys.exit(0 if process.wait(200) else 1)
"""


def test_characters_missing_in_the_hosts_encoding_do_not_block_the_trainer(tmp_path: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", SPEAKS, str(tmp_path / "log")]
    subprocess.run(command, env=os.environ | ascii_only, check=True, timeout=PATIENCE_SECONDS)
    assert (tmp_path / "log").stat().st_size == 500 * (len("2026-01-01 00:00:00 ") + 3001)


def test_malformed_output_of_the_leash_does_not_hide_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / "leash.py"
    odd.write_text("print('{\"pid\": 12')")
    monkeypatch.setattr("arcadia_workers.contract.leash.__file__", str(odd))
    process = start(tmp_path, "")
    assert process.wait(PATIENCE_SECONDS)


def test_a_signal_without_a_name_has_a_description(tmp_path: Path) -> None:
    status = ended(start(tmp_path, "import os; os.kill(os.getpid(), 40)"))
    assert status is not None
    assert ending_of_trainer(status, None, "", None, timed_out=False).message == "The trainer was killed by signal 40."
