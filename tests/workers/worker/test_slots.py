"""Slots: so many at most, and no ring is lost."""

import threading

from tests.workers.waiting import PATIENCE_SECONDS, wait_until
from workers.worker.slots import Slots


def test_no_more_come_in_than_there_are_places() -> None:
    places = Slots(2)
    assert [places.enter() for _ in range(3)] == [True, True, False]
    places.leave()
    assert places.enter()


def test_a_ring_in_vain_has_one_inside_look_again() -> None:
    places = Slots(1)
    assert places.enter()
    assert places.should_check_again()
    assert not places.enter()
    assert places.should_check_again(), "somebody rang since it looked"
    assert not places.should_check_again()
    assert places.enter(), "it has left"


def test_no_ring_is_lost_however_the_threads_meet() -> None:
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


def test_nobody_comes_in_while_it_is_closed() -> None:
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
    assert places.should_check_again(), "the ring meanwhile is not forgotten"
