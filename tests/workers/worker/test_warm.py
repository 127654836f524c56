"""Tests for a process that is kept ready for the next assignment."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arcadia_workers.worker import trainer_process
from arcadia_workers.worker.trainer_process import TrainerProcess, WarmProcess
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

SAYS = (
    "import json, pathlib, sys; assert sys.argv[1] == '--wait-for-arguments'; "
    "given = json.loads(open(sys.argv[2]).readline()); pathlib.Path(given[0]).write_text(' '.join(given[1:]))"
)
PROGRAM = [sys.executable, "-c", SAYS]


@pytest.fixture
def kept_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WarmProcess]:
    monkeypatch.setattr(trainer_process, "MIN_AVAILABLE_BYTES", 0)
    process = WarmProcess(PROGRAM, tmp_path, {})
    yield process
    process.close()


def test_the_ready_process_does_the_assignment_with_its_arguments(kept_ready: WarmProcess, tmp_path: Path) -> None:
    kept_ready.prepare()
    taken = kept_ready.take([*PROGRAM, str(tmp_path / "said"), "one", "two"])
    assert taken is not None
    assert taken.wait(PATIENCE_SECONDS)
    assert ((tmp_path / "said").read_text(), taken.returncode) == ("one two", 0)


def test_another_process_is_prepared_once_one_is_taken(
    kept_ready: WarmProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer_process, "WARM_AFTER_SECONDS", 0.0)
    kept_ready.prepare()
    first = kept_ready.take([*PROGRAM, str(tmp_path / "first")])
    taken: list[TrainerProcess] = []

    def is_taken() -> bool:
        if following := kept_ready.take([*PROGRAM, str(tmp_path / "next")]):
            taken.append(following)
        return bool(taken)

    wait_until(is_taken)
    assert taken[0] is not first


def test_no_process_is_ready_before_preparation_or_for_another_program(kept_ready: WarmProcess) -> None:
    assert kept_ready.take([*PROGRAM, "x"]) is None
    kept_ready.prepare()
    assert kept_ready.take(["other", "x"]) is None


def test_no_process_is_kept_ready_if_memory_is_low(kept_ready: WarmProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_process, "MIN_AVAILABLE_BYTES", 1 << 62)
    kept_ready.prepare()
    assert kept_ready.take([*PROGRAM, "x"]) is None


def test_an_assignment_handed_over_early_is_done_while_the_next_process_is_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer_process, "MIN_AVAILABLE_BYTES", 0)
    loaded = tmp_path / "loaded"
    loads = f"import os, time\nwhile not os.path.exists({str(loaded)!r}): time.sleep(0.01)\n"
    program = [sys.executable, "-c", loads + SAYS]
    kept = WarmProcess(program, tmp_path, {})
    try:
        kept.prepare()
        taken = kept.take([*program, str(tmp_path / "said"), "one"])
        kept.prepare()
        loaded.touch()
        assert taken is not None
        assert taken.wait(PATIENCE_SECONDS)
        assert (tmp_path / "said").read_text() == "one"
    finally:
        kept.close()


def test_processes_of_two_programs_are_kept_ready_in_one_directory(kept_ready: WarmProcess, tmp_path: Path) -> None:
    other = WarmProcess(PROGRAM, tmp_path, {}, name="other")
    try:
        for each, word in ((kept_ready, "first"), (other, "second")):
            each.prepare()
            taken = each.take([*PROGRAM, str(tmp_path / word), word])
            assert taken is not None
            assert taken.wait(PATIENCE_SECONDS)
            assert (tmp_path / word).read_text() == word
    finally:
        other.close()


def test_closing_ends_the_idle_process(kept_ready: WarmProcess) -> None:
    kept_ready.prepare()
    idle = kept_ready._process
    assert idle is not None
    kept_ready.close()
    assert idle.wait(PATIENCE_SECONDS)
    kept_ready.prepare()
    assert kept_ready.take([*PROGRAM, "x"]) is None
