"""Lines of an output in a log."""

from __future__ import annotations

import pytest
from arcadia.capture import MAX_LINE, LineLog, describe_status, find_traceback


def lines_of(*chunks: bytes) -> list[str]:
    lines: list[str] = []
    log = LineLog(lines.append)
    for chunk in chunks:
        log.feed(chunk)
    log.finish()
    return lines


def test_lines_are_independent_of_how_they_arrive() -> None:
    data = "first\r\n\nzweite Zeile: schön\nlast".encode()
    expected = ["first", "zweite Zeile: schön", "last"]
    assert lines_of(data) == lines_of(*(data[start : start + 1] for start in range(len(data)))) == expected


def test_colors_and_earlier_states_of_a_progress_bar_are_left_out() -> None:
    assert lines_of(b"\x1b[1;31mred\x1b[0m\n", b"\r 10%|#   |\r 90%|### |\r100%|####|\n") == ["red", "100%|####|"]


def test_a_progress_bar_that_never_ends_its_line_needs_little_memory() -> None:
    bar = b"".join(b"\r%06d" % number for number in range(10_000))
    lines: list[str] = []
    log = LineLog(lines.append)
    for start in range(0, len(bar), 1_000):
        log.feed(bar[start : start + 1_000])
        assert len(log._rest) <= MAX_LINE
    assert lines_of(bar) == ["009999"]


def test_a_line_that_is_too_long_is_cut() -> None:
    assert lines_of(b"x" * (MAX_LINE + 5) + b"\n") == ["x" * MAX_LINE]


def test_a_failure_is_its_last_traceback() -> None:
    before = ["Traceback (most recent call last):", '  File "a", line 1', "KeyError: 'a'", "During handling …"]
    last = ["Traceback (most recent call last):", '  File "b", line 2', "    raise ValueError", "ValueError: bad"]
    assert find_traceback([*before, *last, "cleaning up"]) == ("ValueError: bad", "\n".join(last))
    assert find_traceback(["Segmentation fault"]) is None


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(3, "The command exited with status 3."), (-9, "The command was killed by SIGKILL.")],
)
def test_a_status_is_explained(status: int, sentence: str) -> None:
    assert describe_status(status) == sentence
