"""Tests that slots limit concurrent threads and lose no doorbell ring."""

import threading

from arcadia_workers.worker.work import Slots
from tests.workers.waiting import PATIENCE_SECONDS, wait_until


def test_the_number_of_slots_is_limited() -> None:
    places = Slots(2)
    assert [places.enter() for _ in range(3)] == [True, True, False]
    places.leave()
    assert places.enter()


def test_a_ring_while_all_slots_are_taken_causes_another_check() -> None:
    places = Slots(1)
    assert places.enter()
    assert places.should_check_again()
    assert not places.enter()
    assert places.should_check_again(), "the doorbell rang since the last check"
    assert not places.should_check_again()
    assert places.enter(), "the slot is free again"


def test_no_ring_is_lost_under_concurrency() -> None:
    places, lock = Slots(2), threading.Lock()
    waiting = done = 0

    def look() -> None:
        nonlocal waiting, done
        if not places.enter():
            return
        while places.should_check_again():
            while True:
                with lock:
                    if not waiting:
                        break
                    waiting -= 1
                    done += 1

    def ring() -> None:
        nonlocal waiting
        for _ in range(500):
            with lock:
                waiting += 1
            look()

    threads = [threading.Thread(target=ring) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE_SECONDS)
    assert (waiting, done) == (0, 2000)


def test_no_slot_can_be_taken_while_closed() -> None:
    places, events = Slots(1), list[str]()
    assert places.enter()

    def close() -> None:
        with places.closed():
            events.append("closed")
            events.append("in" if places.enter() else "out")

    thread = threading.Thread(target=close)
    thread.start()
    wait_until(lambda: places._closed)
    assert events == []
    assert not places.should_check_again()
    thread.join(timeout=PATIENCE_SECONDS)
    assert events == ["closed", "out"]
    assert places.enter()
    assert places.should_check_again(), "a ring while closed is not lost"
