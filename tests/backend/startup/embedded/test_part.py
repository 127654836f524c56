"""Supervised processes of `arcadia up`, which are restarted after any failure."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from arcadia_backend.startup import parts
from arcadia_backend.startup.parts import Output, SupervisedProcess, describe_exit
from tests.workers.waiting import PATIENCE_SECONDS


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "FIRST_RESTART_SECONDS", 0.01)
    monkeypatch.setattr(parts, "MAX_RESTART_SECONDS", 0.05)


def test_a_process_that_cannot_be_started_is_retried(tmp_path: Path) -> None:
    program, ran = tmp_path / "program", tmp_path / "ran"
    written, said = os.pipe()

    async def work() -> None:
        kept = SupervisedProcess("backend", [str(program)], dict(os.environ), Output(said))
        kept.started.set()
        kept.start()
        heard = b""
        while heard.count(b"could not be supervised") < 2:
            heard += await asyncio.to_thread(os.read, written, 10_000)
        program.write_text(f"#!{sys.executable}\nimport time\nopen({str(ran)!r}, 'w').close()\ntime.sleep(600)\n")
        program.chmod(0o700)
        while not ran.exists():
            await asyncio.sleep(0.01)
        await kept.stop(PATIENCE_SECONDS)

    asyncio.run(asyncio.wait_for(work(), 2 * PATIENCE_SECONDS))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "ended with status 3"),
        (-signal.SIGKILL, "was killed by SIGKILL"),
        (-(signal.SIGRTMIN + 3), f"was killed by signal {signal.SIGRTMIN + 3}"),
    ],
)
def test_every_exit_status_has_a_description(status: int, words: str) -> None:
    assert describe_exit(status) == words
