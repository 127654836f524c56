"""Tests for reading the trainer's event file, complete or torn."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from arcadia_workers.contract.events import LONGEST_LINE, event_adapter
from arcadia_workers.contract.worker_api import MOST_EVENTS
from arcadia_workers.worker.spool import BrokenSpoolError, Spool


def line(seq: int, kind: str = "metrics") -> str:
    """Return the line of an event."""
    return json.dumps({"kind": kind, "seq": seq}) + "\n"


def seqs(spool: Spool) -> list[int]:
    """Return the sequence numbers of the events to send next."""
    return [event["seq"] for event in spool.read().events]


def test_nothing_is_read_before_the_trainer_writes(tmp_path: Path) -> None:
    assert seqs(Spool(tmp_path)) == []
    assert Spool(tmp_path).last_event() is None


def test_half_a_line_is_not_read_until_it_is_complete(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(line(1) + line(2)[:9])
    spool = Spool(tmp_path)
    assert seqs(spool) == [1]
    events.write_text(line(1) + line(2))
    assert seqs(spool) == [1, 2]


def test_only_unacknowledged_events_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("".join(line(seq) for seq in range(1, 6)))
    spool = Spool(tmp_path)
    assert seqs(spool) == seqs(spool) == [1, 2, 3, 4, 5]
    spool.acknowledge(spool.read())
    assert seqs(spool) == []
    with (tmp_path / "events.jsonl").open("a") as events:
        events.write(line(6))
    assert seqs(spool) == seqs(Spool(tmp_path)) == [6]


def test_a_batch_holds_at_most_a_thousand_events(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("".join(line(seq) for seq in range(1, 2502)))
    spool, sizes = Spool(tmp_path), []
    while batch := spool.read().events:
        sizes.append(len(batch))
        spool.acknowledge(spool.read())
    assert sizes == [MOST_EVENTS, MOST_EVENTS, 501]


def test_a_line_longer_than_a_batch_is_read_completely(tmp_path: Path) -> None:
    long = json.dumps({"kind": "failed", "seq": 1, "traceback": "x" * 700_000}) + "\n"
    (tmp_path / "events.jsonl").write_text(long + line(2))
    spool = Spool(tmp_path)
    assert seqs(spool) == [1]
    spool.acknowledge(spool.read())
    assert seqs(spool) == [2]


def test_an_event_that_names_files_starts_a_batch(tmp_path: Path) -> None:
    files: list[dict[str, Any]] = [{}, {"checkpoint": {"file": "a"}}, {}, {"file": "b", "poster": "c"}]
    kinds = ["metrics", "checkpoint", "metrics", "video"]
    events = [
        {"kind": kind, "seq": seq, **named} for seq, (kind, named) in enumerate(zip(kinds, files, strict=True), 1)
    ]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    spool, batches = Spool(tmp_path), []
    while batch := seqs(spool):
        batches.append(batch)
        spool.acknowledge(spool.read())
    assert batches == [[1], [2, 3], [4]]


@pytest.mark.parametrize("mark", ['{"offset": 9999, "seq": 500}', '{"offs', ""])
def test_an_invalid_acknowledgment_file_only_causes_resending(tmp_path: Path, mark: str) -> None:
    (tmp_path / "events.jsonl").write_text(line(1) + line(2))
    (tmp_path / "acknowledged.json").write_text(mark)
    assert seqs(Spool(tmp_path)) == [1, 2]


def test_rewinding_returns_to_the_event_that_the_backend_expects(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("".join(line(seq) for seq in range(1, 9)))
    spool = Spool(tmp_path)
    spool.acknowledge(spool.read())
    spool.rewind(5)
    assert seqs(spool) == [5, 6, 7, 8]
    with pytest.raises(BrokenSpoolError, match="expects event 12"):
        spool.rewind(12)


@pytest.mark.parametrize("nonsense", ["[]\n", "{}\n", "nonsense\n", '{"seq": "one", "kind": "log"}\n', "null\n"])
def test_an_invalid_line_is_reported_with_its_position(tmp_path: Path, nonsense: str) -> None:
    (tmp_path / "events.jsonl").write_text(line(1) + nonsense)
    with pytest.raises(BrokenSpoolError, match=f"at byte {len(line(1))}"):
        Spool(tmp_path).read()


def test_the_last_event_is_the_last_complete_one(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(line(1) + line(2, "finished") + '{"ki')
    assert Spool(tmp_path).last_event() == {"kind": "finished", "seq": 2}


def long_event(kind: str, seq: int, length: int, **more: object) -> str:
    """Return the line of an event with texts of this length."""
    return json.dumps({"seq": seq, "time": 1.5, "step": 7, "frames": 28, "kind": kind, **more, "message": "x" * length})


def test_the_last_event_may_be_long(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(line(1) + long_event("failed", 2, 1_500_000) + "\n")
    last = Spool(tmp_path).last_event()
    assert last is not None
    assert (last["kind"], last["seq"], len(last["message"])) == ("failed", 2, 1_500_000)


def test_an_overlong_line_is_read_in_part_and_keeps_its_known_fields(tmp_path: Path) -> None:
    length = 40_000_000
    with (tmp_path / "events.jsonl").open("w") as events:
        events.write(line(1) + long_event("metrics", 2, length) + "\n" + long_event("failed", 3, length) + "\n")
        events.write('{"kind": "me')
    spool = Spool(tmp_path)
    tracemalloc.start()
    first, left_out, failed = spool.read().events + spool_after(spool) + spool_after(spool)
    assert spool.last_event() == failed
    assert tracemalloc.get_traced_memory()[1] < 5 * LONGEST_LINE
    tracemalloc.stop()
    assert first["seq"] == 1
    assert (left_out["seq"], left_out["step"], left_out["kind"], left_out["level"]) == (2, 7, "log", "warning")
    assert "An event (metrics) was skipped: its 40,000," in left_out["message"]
    assert (failed["seq"], failed["kind"], failed["traceback"]) == (3, "failed", "")
    assert failed["message"].startswith("xxx")
    assert failed["message"].endswith("bytes)")
    assert len(failed["message"]) < 10_000
    for event in (left_out, failed):
        event_adapter.validate_python(event)


def spool_after(spool: Spool) -> list[dict[str, Any]]:
    """Acknowledge the next events and return those after them."""
    spool.acknowledge(spool.read())
    return spool.read().events


def test_an_invalid_last_line_gives_no_last_event(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(line(1) + "nonsense\n")
    assert Spool(tmp_path).last_event() is None
