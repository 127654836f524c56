"""Tests that the provenance is collected in the background and reported once."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from arcadia_workers.contract import events
from arcadia_workers.contract.provenance import MAX_DIFF_BYTES, Provenance
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.provenance import ProvenanceReport
from tests.provenance import PROVENANCE
from tests.workers.trainer.trainers import read_events
from tests.workers.waiting import PATIENCE_SECONDS


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path) as journal:
        yield journal


def test_training_continues_while_the_provenance_is_collected(journal: Journal, tmp_path: Path) -> None:
    released = threading.Event()

    def collect() -> Provenance:
        assert released.wait(PATIENCE_SECONDS)
        return PROVENANCE

    report = ProvenanceReport(tmp_path, journal, collect)
    report.report(0, 0)
    assert read_events(tmp_path) == []
    released.set()
    report.report(7, 28, wait_seconds=PATIENCE_SECONDS)
    report.report(8, 32, wait_seconds=PATIENCE_SECONDS)
    (event,) = read_events(tmp_path)
    assert isinstance(event, events.ProvenanceEvent)
    assert (event.step, event.provenance) == (7, PROVENANCE)
    assert Provenance.model_validate_json((tmp_path / "provenance.json").read_bytes()) == PROVENANCE


def test_a_failure_is_a_warning_in_the_log(journal: Journal, tmp_path: Path) -> None:
    def collect() -> Provenance:
        raise OSError("no such disk")

    ProvenanceReport(tmp_path, journal, collect).report(0, 0, wait_seconds=PATIENCE_SECONDS)
    (event,) = read_events(tmp_path)
    assert isinstance(event, events.Log)
    assert event.level == "warning"
    assert event.message == "The provenance of this attempt could not be collected: OSError: no such disk"


def test_the_longest_diff_fits_into_a_line(journal: Journal, tmp_path: Path) -> None:
    quotes = PROVENANCE.model_copy(update={"diff": '"' * MAX_DIFF_BYTES})
    ProvenanceReport(tmp_path, journal, lambda: quotes).report(0, 0, wait_seconds=PATIENCE_SECONDS)
    (event,) = read_events(tmp_path)
    assert isinstance(event, events.ProvenanceEvent)
    assert len(event.provenance.diff) == MAX_DIFF_BYTES
