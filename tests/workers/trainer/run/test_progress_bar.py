"""Tests that progress is a bar on a terminal and plain lines elsewhere."""

import contextlib
import io
import os
from pathlib import Path

import pytest

from arcadia_workers.trainer.run import progress
from arcadia_workers.trainer.run.progress import ProgressBar, RunProgress, duration, in_words, with_bar

HALFWAY = RunProgress(step=5_000, total_steps=10_000, steps_per_second=1000, frames_per_second=4000, return_mean=-20.25)


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def _always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show every update, however soon after the last one."""
    monkeypatch.setattr(progress, "TERMINAL_SECONDS", 0)
    monkeypatch.setattr(progress, "PLAIN_LINE_SECONDS", 0)


def test_the_text_has_steps_rates_return_and_remaining_time() -> None:
    assert in_words(HALFWAY) == "5,000 of 10,000 steps · 1,000 steps/s · 4,000 frames/s · return -20.2 · 5.0 s left"


def test_unknown_values_are_omitted() -> None:
    assert in_words(RunProgress(0, 10, 0, 0, None)) == "0 of 10 steps · 0 steps/s · 0 frames/s"


def test_the_bar_shows_the_progress_of_the_run() -> None:
    assert with_bar(HALFWAY).startswith(" 50.0% " + "━" * 12 + "─" * 12)


@pytest.mark.usefixtures("_always_due")
def test_without_a_terminal_progress_is_plain_lines() -> None:
    stream = io.StringIO()
    bar = ProgressBar(stream)
    bar.show(HALFWAY)
    bar.line("a message")
    bar.close()
    assert stream.getvalue() == f"{in_words(HALFWAY)}\na message\n"


def test_without_a_terminal_lines_are_seconds_apart() -> None:
    stream = io.StringIO()
    ProgressBar(stream).show(HALFWAY)
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_always_due")
def test_a_terminal_without_the_bars_characters_uses_other_characters() -> None:
    class LatinTerminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    shown = io.BytesIO()
    bar = ProgressBar(LatinTerminal(shown, encoding="latin-1"))
    bar.show(HALFWAY)
    assert b"50.0% ????" in shown.getvalue()


@pytest.mark.usefixtures("_always_due")
def test_on_a_terminal_the_bar_is_redrawn_below_messages() -> None:
    stream = Terminal()
    bar = ProgressBar(stream)
    bar.show(HALFWAY)
    bar.line("a message")
    bar.close()
    shown = stream.getvalue()
    assert shown.startswith("\r 50.0%")
    assert "\r\x1b[Ka message\n 50.0%" in shown
    assert shown.endswith("\n")


@pytest.mark.usefixtures("_always_due")
def test_the_bar_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    ProgressBar(stream).show(HALFWAY)
    assert len(stream.getvalue().removeprefix("\r").removesuffix("\x1b[K")) == 39


@pytest.mark.parametrize(
    ("seconds", "words"), [(4.51, "4.5 s"), (200, "3 min 20 s"), (7500, "2 h 05 min"), (360_000, "100 h 00 min")]
)
def test_durations_are_formatted_for_readers(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_training_continues_if_its_progress_cannot_be_written() -> None:
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
        bar = ProgressBar(full)
        bar.line("nobody will read this")
        bar.close()
        reported = True
    assert reported, "only closing the stream may fail"


def test_training_continues_after_the_reader_of_its_output_has_ended() -> None:
    read, write = os.pipe()
    os.close(read)
    gone = os.fdopen(write, "wb", buffering=0)
    bar = ProgressBar(io.TextIOWrapper(gone, write_through=True))
    bar.line("nobody will read this")
