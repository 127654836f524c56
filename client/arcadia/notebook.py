"""Runs and replays as HTML for notebooks, without JavaScript, with progress bars."""

from __future__ import annotations

import base64
import html
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import httpx
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from arcadia.records.job import ReplayRecord
from arcadia.records.run import RunRecord
from arcadia.tables import parse_series
from arcadia.version import user_agent

if TYPE_CHECKING:
    from arcadia.records.run import RunRecord


CURVE_WIDTH, CURVE_HEIGHT = 240, 64
_CARD = "display:flex;gap:16px;align-items:flex-start;font-family:sans-serif;font-size:13px"


@dataclass(frozen=True)
class Preview:
    """Picture and curve of a run. Both may be missing."""

    picture: bytes | None = None
    curve: Sequence[tuple[float, float]] = ()


def run_card(run: RunRecord, url: str, preview: Preview) -> str:
    """Return a run with its picture, state, progress and the curve of its return."""
    reason = f"<div>{html.escape(run.state_reason)}</div>" if run.state_reason else ""
    failure = f"<pre>{html.escape(run.failure)}</pre>" if run.failure else ""
    lines = (
        f'<a href="{html.escape(url)}" target="_blank"><b>{html.escape(run.name)}</b></a> (run {run.id})',
        html.escape(" on ".join(text for text in (run.algorithm, run.env) if text)),
        f"<b>{html.escape(run.state)}</b>, step {run.step:,}{_of_total(run)}",
        f"Return: {_score(run.last_return)}, best {_score(run.best_return)}",
    )
    body = "".join(f"<div>{line}</div>" for line in lines)
    return (
        f'<div style="{_CARD}">{_image(preview.picture)}<div>{body}{reason}{failure}</div>{_svg(preview.curve)}</div>'
    )


def _of_total(run: RunRecord) -> str:
    if run.total_steps is None:
        return ""
    bar = f'<progress value="{run.progress:.4f}" max="1" style="width:{CURVE_WIDTH}px"></progress>'
    return f" of {run.total_steps:,}</div><div>{bar}"


def replay_card(replay: ReplayRecord, url: str, picture: bytes | None) -> str:
    """Return a replay with its picture and return."""
    said = f"Replay {replay.id} at step {replay.step:,}: return {replay.episode_return:g}, {replay.seconds:.1f} s"
    link = f'<a href="{html.escape(url)}" target="_blank">{html.escape(said)}</a>'
    return f'<div style="{_CARD}">{_image(picture)}<div>{link}</div></div>'


def _image(picture: bytes | None) -> str:
    """Return a picture that needs no request, which a token would have to allow."""
    if picture is None:
        return ""
    content = base64.b64encode(picture).decode()
    return f'<img src="data:image/png;base64,{content}" alt="" style="height:110px;image-rendering:pixelated">'


def _score(value: float | None) -> str:
    return "none yet" if value is None else f"{value:.4g}"


def _svg(curve: Sequence[tuple[float, float]]) -> str:
    """Return a curve as an inline image."""
    points = [(x, y) for x, y in curve if abs(x) < float("inf") and abs(y) < float("inf")]
    if len(points) < 2:
        return ""
    low_x, high_x = points[0][0], points[-1][0]
    low_y, high_y = min(y for _, y in points), max(y for _, y in points)
    width, height = high_x - low_x or 1.0, high_y - low_y or 1.0
    path = " ".join(
        f"{(x - low_x) / width * CURVE_WIDTH:.1f},{CURVE_HEIGHT - (y - low_y) / height * CURVE_HEIGHT:.1f}"
        for x, y in points
    )
    label = f"Return from {low_y:.4g} to {high_y:.4g}"
    return (
        f'<svg width="{CURVE_WIDTH}" height="{CURVE_HEIGHT + 18}" viewBox="0 0 {CURVE_WIDTH} {CURVE_HEIGHT + 18}" '
        f'role="img" aria-label="{label}"><polyline points="{path}" fill="none" stroke="currentColor" '
        f'stroke-width="1.5"/><text x="0" y="{CURVE_HEIGHT + 14}" font-size="11" fill="currentColor">{label}</text>'
        "</svg>"
    )


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


EPISODE_RETURN = "episode/return"
CURVE_BUCKETS = 120
TIMEOUT_SECONDS = 5.0


class Connection(Protocol):
    """The server's address and token, and the transport that tests replace."""

    url: str
    token: str | None
    given: Any


def read_preview(connection: Connection, run: RunRecord) -> Preview:
    """Return the picture and the curve of a run, as far as the server has them and answers."""
    file_id = run.data["poster_file_id"]
    metrics = _get(connection, f"/runs/{run.id}/metrics", {"names": EPISODE_RETURN, "buckets": CURVE_BUCKETS})
    series = metrics.json()["series"].get(EPISODE_RETURN) if metrics else None
    curve = parse_series(EPISODE_RETURN, series) if series else None
    return Preview(read_picture(connection, file_id), list(zip(curve.x, curve.values, strict=True)) if curve else ())


def read_picture(connection: Connection, file_id: int | None) -> bytes | None:
    """Return a picture, or None if it does not exist or the server does not answer."""
    response = _get(connection, f"/files/{file_id}", {}) if file_id is not None else None
    return response.content if response else None


def _get(connection: Connection, path: str, params: Mapping[str, Any]) -> httpx.Response | None:
    headers = {"User-Agent": user_agent()}
    if connection.token:
        headers["Authorization"] = f"Bearer {connection.token}"
    given = connection.given if isinstance(connection.given, httpx.BaseTransport) else None
    try:
        with httpx.Client(headers=headers, timeout=TIMEOUT_SECONDS, transport=given) as http:
            response = http.get(f"{connection.url}/api/v1{path}", params=dict(params))
    except httpx.TransportError:  # a notebook shows the fields without them
        return None
    return response if response.is_success else None
