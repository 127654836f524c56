"""Tests that record queues keep order, return all waiting records, and survive killed readers and writers."""

import os
import signal
import threading

import pytest

from arcadia_workers.trainer.host.processes import ActorFailed, Link, Processes
from arcadia_workers.trainer.methods.ga3c.record_queues import QueueClosed, Writer, open_queue


def write_for_ever(link: Link, writer: Writer) -> None:
    link.send(os.getpid())
    while True:
        writer.put(7, 0.5)


def test_records_are_unchanged_and_in_order() -> None:
    reader, writer = open_queue("id")
    for i in range(3):
        writer.put(i, i / 2)
    assert [reader.take() for _ in range(3)] == [(0, 0.0), (1, 0.5), (2, 1.0)]


def test_all_waiting_records_are_returned_at_once() -> None:
    reader, writer = open_queue("i")
    for i in range(1000):
        writer.put(i)
    assert reader.waiting() == 1000
    assert reader.take_all() == [(i,) for i in range(1000)]
    assert reader.waiting() == 0


def test_a_reader_can_wait_for_a_record_and_for_those_that_follow_immediately() -> None:
    reader, writer = open_queue("i")
    waiting = threading.Thread(target=reader.wait_until_settled)
    waiting.start()
    writer.put(1)
    writer.put(2)
    waiting.join()
    assert set(reader.take_all()) <= {(1,), (2,)}


def test_each_record_of_many_writers_reaches_one_of_many_readers_intact() -> None:
    reader, writer = open_queue("ii")
    taken: list[tuple[int, int]] = []

    def write(number: int) -> None:
        for i in range(500):
            writer.put(number, i)

    def read() -> None:
        while (-1, -1) not in (records := reader.take_all()):
            taken.extend(records)
        taken.extend(records[: records.index((-1, -1))])
        writer.put(-1, -1)  # for the next reader

    readers = [threading.Thread(target=read) for _ in range(3)]
    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    writer.put(-1, -1)
    for thread in readers:
        thread.join()
    assert sorted(taken) == [(number, i) for number in range(4) for i in range(500)]


def test_a_reader_notices_that_all_writers_have_ended() -> None:
    reader, writer = open_queue("i")
    writer.put(1)
    writer.pipe.close()
    assert reader.take() == (1,)
    with pytest.raises(QueueClosed):
        reader.take()


def test_a_killed_writer_leaves_complete_records_and_blocks_nobody() -> None:
    reader, writer = open_queue("id")
    with Processes() as processes:
        processes.start(write_for_ever, writer)
        assert reader.take() == (7, 0.5)
        ((_, pid),) = processes.receive(60)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ActorFailed, match="signal 9"):
            processes.receive(60)
    while reader.waiting():
        assert set(reader.take_all()) == {(7, 0.5)}
    writer.put(8, 1.0)
    assert reader.take() == (8, 1.0)
