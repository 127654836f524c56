"""Progress of waiting calls and downloads: a bar on a terminal and in notebooks, silent otherwise."""

from __future__ import annotations

import html
import time
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

# A notebook stores every update that it shows.
NOTEBOOK_UPDATE_SECONDS = 0.5


def format_size(value: int) -> str:
    """Return a number of bytes in the units of the pages: 16 GiB, 3.4 MiB."""
    left = float(value)
    for unit in ("B", "KiB", "MiB"):
        if left < 1_023.95:
            return f"{_three_digits(left)} {unit}"
        left /= 1_024
    return f"{_three_digits(left)} GiB"


def _three_digits(value: float) -> str:
    """Return a number with three digits, or all of its digits before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


class View(Protocol):
    """Display of a progress bar."""

    def start(self) -> None:
        """Show the bar."""

    def update(self, share: float, status: str) -> None:
        """Show the share that is done, from 0 to 1, and a text."""

    def stop(self) -> None:
        """Leave the bar as it is."""


class ProgressBar:
    """A progress bar with a share from 0 to 1 and a text. `is_shown` is False if nothing would show it."""

    def __init__(self, title: str, *, wanted: bool = True) -> None:
        self._view = _choose_view(title) if wanted else None

    @property
    def is_shown(self) -> bool:
        """True if a terminal or a notebook shows the bar."""
        return self._view is not None

    def update(self, share: float, status: str) -> None:
        """Show the share that is done, and a text."""
        if self._view is not None:
            self._view.update(share, status)

    def __enter__(self) -> ProgressBar:
        if self._view is not None:
            self._view.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._view is not None:
            self._view.stop()


class TerminalView:
    """A bar on a terminal."""

    def __init__(self, title: str, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[status]}", markup=False),
            console=console,
        )
        self._task = self._progress.add_task(title, total=1.0, status="")

    def start(self) -> None:
        """Show the bar."""
        self._progress.start()

    def update(self, share: float, status: str) -> None:
        """Show the share that is done, and a text."""
        self._progress.update(self._task, completed=share, status=status)

    def stop(self) -> None:
        """Leave the bar as it is."""
        self._progress.stop()


class NotebookView:
    """A bar in a notebook. Rich would need ipywidgets there, and leave an empty output in stored notebooks."""

    def __init__(self, title: str) -> None:
        self._title, self._share, self._status = title, 0.0, ""
        self._display: Any = import_module("IPython.display")
        self._handle: Any = None
        self._updated_at = 0.0

    def start(self) -> None:
        """Show the bar."""
        self._handle = self._display.display(self._draw(), display_id=True)

    def update(self, share: float, status: str) -> None:
        """Show the share that is done, and a text, but not too often."""
        self._share, self._status = share, status
        if time.monotonic() - self._updated_at >= NOTEBOOK_UPDATE_SECONDS:
            self._updated_at = time.monotonic()
            self._handle.update(self._draw())

    def stop(self) -> None:
        """Show the last update."""
        self._handle.update(self._draw())

    def _draw(self) -> Any:
        text = html.escape(f"{self._title}: {self._share:.0%} {self._status}".rstrip())
        bar = f'<progress value="{self._share:.4f}" max="1"></progress> {text}'
        return self._display.HTML(f'<div style="font-family:sans-serif;font-size:13px">{bar}</div>')


def _choose_view(title: str) -> View | None:
    """Return what shows a bar here, or None."""
    console = Console(stderr=True)
    if console.is_jupyter:
        return NotebookView(title)
    return TerminalView(title, console) if console.is_terminal else None
