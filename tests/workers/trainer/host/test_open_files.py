"""Tests for raising the limit of open files, with artificial limits."""

import resource

import pytest

from arcadia_workers.trainer.host import memory
from arcadia_workers.trainer.host.memory import TooManyProcessesError


def test_the_limit_of_open_files_is_raised_as_far_as_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    granted: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: granted.append(limits))
    memory.allow(50, "agents", 10)
    assert granted == []
    memory.allow(300, "agents", 10)
    assert granted == [(3200, 4096)]
    with pytest.raises(TooManyProcessesError, match="choose at most 389 agents"):
        memory.allow(400, "agents", 10)
