"""Heat map of the share of each action in the replays of a run, by the step of their checkpoint.

Training does not report actions. The replays are episodes that were played with the checkpoints, and their tracks have
each action.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import File, Replay, Run
from backend.figures.drawing import as_text, significant, to_json
from backend.figures.schemas import Figure
from backend.files.service import files_root
from backend.files.storage import stored_path
from backend.metrics.points import Ints
from workers.contract import tracks

# More columns than this are thinner than a screen can show. Each reads the files of its replays.
MAX_CHECKPOINTS = 60
CACHED_TRACKS = 4_000
# Readable by color-blind readers, on light and dark pages.
COLOR_SCALE = "Cividis"


@dataclass(frozen=True)
class ActionCounts:
    """How often the replays of a checkpoint took each action."""

    step: int
    names: Sequence[str]
    counts: Ints


@dataclass(frozen=True)
class TrackFile:
    """The track of a replay, and the step of its checkpoint."""

    step: int
    path: Path
    sha256: str


def find_tracks(session: Session, run: Run) -> list[TrackFile]:
    """Return the track files of a run's replays by step, of evenly chosen checkpoints if there are many."""
    query = select(Replay.step, File.stored_path, File.sha256).join(File, File.id == Replay.track_file_id)
    rows = session.execute(query.where(Replay.run_id == run.id).order_by(Replay.step, Replay.id)).all()
    steps = np.array(list(dict.fromkeys(row.step for row in rows)))
    if len(steps) > MAX_CHECKPOINTS:
        steps = steps[np.linspace(0, len(steps) - 1, MAX_CHECKPOINTS).round().astype(int)]
    root, chosen = files_root(session), set(steps.tolist())
    return [TrackFile(row.step, stored_path(root, row.stored_path), row.sha256) for row in rows if row.step in chosen]


def count_actions(files: Sequence[TrackFile]) -> list[ActionCounts]:
    """Return the counts of each checkpoint. Leave out files that cannot be read, and continuous actions."""
    found: dict[int, ActionCounts] = {}
    for file in files:
        track = _read_counts(file.path, file.sha256)
        if track is None:
            continue
        names, counts = track
        before = found.get(file.step)
        if before is not None and before.names == names:
            counts = counts + before.counts
        found[file.step] = ActionCounts(file.step, names, counts)
    return list(found.values())


@lru_cache(maxsize=CACHED_TRACKS)
def _read_counts(path: Path, _sha256: str) -> tuple[tuple[str, ...], Ints] | None:
    """Return the names of a track's actions with their counts. The hash is part of the key, since a path is reused."""
    try:
        track = tracks.read(path)
        actions = np.asarray(track.columns["action"])
    except (tracks.TrackError, OSError):
        return None
    names = track.head.action_names
    if actions.ndim != 1 or not np.issubdtype(actions.dtype, np.integer) or not names:
        return None
    known = actions[(actions >= 0) & (actions < len(names))]
    return names, np.bincount(known, minlength=len(names)).astype(np.int64)


def action_shares_figure(checkpoints: Sequence[ActionCounts]) -> Figure:
    """Return the heat map. Empty without replays whose actions can be counted."""
    names = list(dict.fromkeys(name for each in checkpoints for name in each.names))
    layout = go.Layout(
        xaxis={"title": {"text": "agent steps of the checkpoint that played the replay"}, "type": "linear"},
        yaxis={"title": {"text": "Share of actions in replays"}, "type": "category", "autorange": "reversed"},
        hovermode="closest",
        showlegend=False,
    )
    if not names:
        return Figure(data=[], layout=layout.to_plotly_json())
    shares = np.zeros((len(names), len(checkpoints)))
    for column, each in enumerate(checkpoints):
        for name, count in zip(each.names, each.counts.tolist(), strict=True):
            shares[names.index(name), column] += count / max(1, int(each.counts.sum()))
    shown = [as_text(name) for name in names]
    trace = go.Heatmap(
        x=np.array([each.step for each in checkpoints], np.int64),
        z=[significant(row).tolist() for row in shares],
        zmin=0,
        zmax=max(float(shares.max()), 0.01),
        colorscale=COLOR_SCALE,
        colorbar={"tickformat": ".0%", "thickness": 12, "outlinewidth": 0},
        hovertext=[
            [f"{name}: {share:.1%} at step {each.step:,}" for each, share in zip(checkpoints, row, strict=True)]
            for name, row in zip(shown, shares.tolist(), strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        uid="shares",
    )
    return Figure(data=[to_json(trace) | {"y": shown}], layout=layout.to_plotly_json())


def draw_action_shares(files: Sequence[TrackFile]) -> Figure:
    """Return the heat map of these tracks."""
    return action_shares_figure(count_actions(files))
