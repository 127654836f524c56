"""Progress of waiting calls: a bar on a terminal and in notebooks, silent otherwise."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class WaitProgress:
    """A progress bar with a share from 0 to 1 and a text. `is_shown` is False if nothing would see it."""

    def __init__(self, title: str, *, wanted: bool = True) -> None:
        console = Console(stderr=True)
        self.is_shown = wanted and (console.is_terminal or console.is_jupyter)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[status]}", markup=False),
            console=console,
            disable=not self.is_shown,
        )
        self._task = self._progress.add_task(title, total=1.0, status="")

    def update(self, share: float, status: str) -> None:
        """Show the share that is done, and a text."""
        self._progress.update(self._task, completed=share, status=status)

    def __enter__(self) -> WaitProgress:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()
