"""Progress is a bar on a terminal and plain lines elsewhere."""

import contextlib
import io
import os
from pathlib import Path

import pytest

from workers.trainer.run import progress_bar
from workers.trainer.run.progress_bar import ProgressBar, RunProgress, duration, in_words, with_bar

HALFWAY = RunProgress(step=5_000, total_steps=10_000, steps_per_second=1000, frames_per_second=4000, return_mean=-20.25)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def _always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show every standing, however soon after the last."""
    monkeypatch.setattr(progress_bar, "TERMINAL_SECONDS", 0)
    monkeypatch.setattr(progress_bar, "PLAIN_LINE_SECONDS", 0)


def test_the_words_name_steps_rates_return_and_time_left() -> None:
    assert in_words(HALFWAY) == "5,000 of 10,000 steps · 1,000 steps/s · 4,000 frames/s · return -20.2 · 5.0 s left"


def test_what_is_not_known_yet_is_left_out() -> None:
    assert in_words(RunProgress(0, 10, 0, 0, None)) == "0 of 10 steps · 0 steps/s · 0 frames/s"


def test_the_bar_is_as_full_as_the_run() -> None:
    assert with_bar(HALFWAY).startswith(" 50.0% " + "━" * 12 + "─" * 12)


@pytest.mark.usefixtures("_always_due")
def test_elsewhere_every_line_stands_alone() -> None:
    stream = io.StringIO()
    bar = ProgressBar(stream)
    bar.show(HALFWAY)
    bar.line("a message")
    bar.close()
    assert stream.getvalue() == f"{in_words(HALFWAY)}\na message\n"


def test_elsewhere_lines_are_seconds_apart() -> None:
    stream = io.StringIO()
    ProgressBar(stream).show(HALFWAY)
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_always_due")
def test_a_terminal_that_lacks_the_bars_cells_shows_something_else() -> None:
    class LatinTerminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    shown = io.BytesIO()
    bar = ProgressBar(LatinTerminal(shown, encoding="latin-1"))
    bar.show(HALFWAY)
    assert b"50.0% ????" in shown.getvalue()


@pytest.mark.usefixtures("_always_due")
def test_on_a_terminal_the_bar_renews_itself_below_messages() -> None:
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
def test_durations_read_naturally(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_training_goes_on_where_its_progress_cannot_be_written() -> None:
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
        bar = ProgressBar(full)
        bar.line("nobody will read this")
        bar.close()
        reported = True
    assert reported, "only closing the stream may fail"


def test_training_goes_on_when_its_reader_has_gone() -> None:
    read, write = os.pipe()
    os.close(read)
    gone = os.fdopen(write, "wb", buffering=0)
    bar = ProgressBar(io.TextIOWrapper(gone, write_through=True))
    bar.line("nobody will read this")
