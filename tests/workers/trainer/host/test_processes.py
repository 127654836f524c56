"""Tests that processes send messages, stop, crash and die without leaving anything behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from torch import Tensor

from arcadia_workers.trainer.host.processes import ActorCrashed, ActorFailed, Link, Processes
from tests.processes import has_ended
from tests.workers.waiting import wait_until


@pytest.fixture
def processes() -> Iterator[Processes]:
    with Processes() as opened:
        yield opened


def echo(link: Link, *words: str) -> None:
    for word in words:
        link.send(word)


def count_up(link: Link, counters: Tensor, slot: int) -> None:
    for _ in range(1000):
        counters[slot] += 1
    link.send("done")


def until_asked(link: Link) -> None:
    link.send((os.getpid(), torch.get_num_threads()))
    while not link.stopping:
        time.sleep(0.001)
    link.send("stopped")


def fade(link: Link) -> None:
    link.send((torch.tensor([1e-30]) * 1e-12).item())


def deaf(link: Link) -> None:
    link.send(os.getpid())
    while True:
        time.sleep(1)


def talkative(link: Link) -> None:
    while not link.stopping:
        link.send(b"x" * 100_000)


def chatty(link: Link) -> None:
    while not link.stopping:
        link.send("still here")
        time.sleep(0.0005)


def crash(link: Link) -> None:
    link.send("last words")
    raise ValueError("the emulator burnt")


def receive_all(processes: Processes) -> list[tuple[int, Any]]:
    messages = []
    while processes.running:
        messages += processes.receive(60)
    return messages


def receive_often(processes: Processes, rounds: int) -> None:
    """Receive a number of times, even if messages keep coming."""
    for _ in range(rounds):
        processes.receive(timeout=1)


def first_message(processes: Processes) -> Any:
    messages: list[tuple[int, Any]] = []
    while not messages:
        messages = processes.receive(60)
    return messages[0][1]


def test_messages_arrive_complete_in_order_and_with_their_processs_number(processes: Processes) -> None:
    first = processes.start(echo, *map(str, range(100)))
    second = processes.start(echo, "a", "b")
    messages = receive_all(processes)
    assert [word for number, word in messages if number == first] == list(map(str, range(100)))
    assert [word for number, word in messages if number == second] == ["a", "b"]


def test_processes_share_tensors(processes: Processes) -> None:
    counters = torch.zeros(2, dtype=torch.int64).share_memory_()
    for slot in range(2):
        processes.start(count_up, counters, slot)
    receive_all(processes)
    assert counters.tolist() == [1000, 1000]


def test_one_process_can_be_stopped_while_the_others_continue(processes: Processes) -> None:
    numbers = [processes.start(until_asked) for _ in range(2)]
    _, threads = first_message(processes)
    assert threads == 1
    processes.stop(numbers[0])
    while processes.running != [numbers[1]]:
        processes.receive(60)


def test_a_process_flushes_denormals_to_zero(processes: Processes) -> None:
    processes.start(fade)
    assert first_message(processes) == 0


def test_a_crash_is_raised_with_its_traceback_after_the_processs_last_messages(processes: Processes) -> None:
    processes.start(crash)
    assert first_message(processes) == "last words"
    with pytest.raises(ActorCrashed, match="crash 0 failed: ValueError: the emulator burnt") as failure:
        receive_all(processes)
    assert 'raise ValueError("the emulator burnt")' in "".join(traceback.format_exception(failure.value))


def test_reading_running_raises_a_crash_after_the_last_messages(processes: Processes) -> None:
    processes.start(crash)
    pipe = processes._children[0].pipe
    wait_until(lambda: processes._children[0].process.exitcode is not None if pipe.poll() else False)
    assert processes.receive(0) == [(0, "last words")]
    with pytest.raises(ActorCrashed, match="the emulator burnt"):
        assert processes.running


def test_a_killed_process_is_named_with_its_signal(processes: Processes) -> None:
    processes.start(until_asked)
    pid, _ = first_message(processes)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ActorFailed, match=r"until_asked 0 was killed by signal 9 \(SIGKILL\)"):
        receive_all(processes)


def test_a_failure_is_raised_while_other_processes_keep_sending(processes: Processes) -> None:
    processes.start(until_asked)
    pid, _ = first_message(processes)
    processes.start(chatty)
    assert first_message(processes) == "still here"
    killed = psutil.Process(pid)
    killed.kill()
    wait_until(lambda: has_ended(killed))
    with pytest.raises(ActorFailed, match="until_asked 0 was killed"):
        receive_often(processes, rounds=20)


def test_an_argument_that_cannot_be_pickled_is_an_error(processes: Processes) -> None:
    processes.start(lambda _link: None)
    with pytest.raises(Exception, match=r"Can't pickle .*lambda"):
        receive_all(processes)


def test_closing_kills_processes_that_do_not_stop_and_drains_those_that_keep_sending() -> None:
    with Processes() as processes:
        processes.start(deaf)
        pid = first_message(processes)
        processes.start(talkative)
        first_message(processes)
    assert not psutil.pid_exists(pid)


def test_a_process_that_is_stopped_before_it_starts_ends() -> None:
    with Processes() as processes:
        processes.stop(processes.start(until_asked))
        messages = receive_all(processes)
    assert [content for _, content in messages][1:] == ["stopped"]


def test_interrupts_are_handled_by_the_main_process_only(processes: Processes) -> None:
    number = processes.start(until_asked)
    pid, _ = first_message(processes)
    server = psutil.Process(pid).ppid()
    for each in (pid, server):
        os.kill(each, signal.SIGINT)
        os.kill(each, signal.SIGTERM)
    processes.stop(number)
    assert receive_all(processes) == [(number, "stopped")]
    assert psutil.pid_exists(server)


PROGRAM = textwrap.dedent("""
    import os, sys, threading
    from tests.workers.trainer.host.test_processes import deaf, first_message
    from arcadia_workers.trainer.host.processes import Processes
    if __name__ == "__main__":
        processes = Processes()
        begun = [processes.start(deaf) for _ in range(2)]
        if sys.argv[1] == "running":
            print(first_message(processes), flush=True)
        else:
            print("starting", flush=True)
        threading.Event().wait()
""")


@pytest.mark.parametrize("moment", [pytest.param("starting", marks=pytest.mark.nightly), "running"])
def test_no_process_outlives_a_killed_main_process(tmp_path: Path, moment: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    main = subprocess.Popen(
        [sys.executable, str(program), moment],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert main.stdout
        assert main.stdout.readline()
        wait_until(lambda: psutil.Process(main.pid).children())
        family = psutil.Process(main.pid).children(recursive=True)
        assert family
    finally:
        main.kill()
        main.wait()
    wait_until(lambda: all(has_ended(each) for each in family))


def test_closing_during_startup_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_workers.trainer.host.processes.GRACE_SECONDS", 0.01)
    processes, loaded = Processes(), threading.Event()
    processes._starter.submit(loaded.wait)  # the server would still be importing torch
    processes.start(until_asked)
    processes.close()
    assert not loaded.is_set()
    assert not processes.running
    loaded.set()
