"""Runs and replays as HTML for notebooks, without JavaScript."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass

from arcadia.records.replay import ReplayRecord
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
