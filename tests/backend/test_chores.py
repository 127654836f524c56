"""A chore that fails is told once, and keeps nothing else from being done."""

import logging

import pytest

from backend.chores import Chores


def test_a_failing_chore_is_told_once_until_it_works_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    chores = Chores()
    outcomes: list[Exception | None] = [OSError("no room"), OSError("no room"), None, None, KeyError("gone")]

    def work() -> None:
        if (error := outcomes.pop(0)) is not None:
            raise error

    for _ in range(5):
        chores.do("Sweeping", work)
    said = [record.getMessage() for record in caplog.records]
    again = "Sweeping failed, and is tried again"
    assert said == [again, "Sweeping works again", again]
    assert "no room" in caplog.text
