"""Figures of action shares and of sample efficiency.

Training does not report actions. The replays are episodes that were played with the checkpoints, and their tracks have
each action.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import Stroke
from arcadia_backend.comparisons.groups import (
    group_names,
    group_names_over_games,
    group_runs,
    group_runs_over_games,
    strokes_by_run,
)
from arcadia_backend.comparisons.scores import STEP_TOLERANCE, EpisodeReturns, common_step, load_episode_returns
from arcadia_backend.database.tables import File, Replay, Run
from arcadia_backend.figures.drawing import (
    MAX_NAMED_LINES,
    Figure,
    as_text,
    faint,
    format_number,
    hover_mode,
    significant,
    to_figure,
    to_json,
)
from arcadia_backend.files.service import files_root
from arcadia_backend.files.storage import stored_path
from arcadia_backend.metrics.points import Ints
from arcadia_workers.contract import tracks
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.inference.samples import Center, efficiency

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
    by_step: dict[int, ActionCounts] = {}
    for file in files:
        track = _read_counts(file.path, file.sha256)
        if track is None:
            continue
        names, counts = track
        before = by_step.get(file.step)
        if before is not None and before.names == names:
            counts = counts + before.counts
        by_step[file.step] = ActionCounts(file.step, names, counts)
    return list(by_step.values())


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


def draw_action_shares(files: Sequence[TrackFile]) -> Figure:
    """Return the heat map of these tracks. It is empty without replays whose actions can be counted."""
    checkpoints = count_actions(files)
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


PLACES = 60
CENTERS: dict[Center, str] = {"mean": "mean", "iqm": "interquartile mean"}


@dataclass(frozen=True)
class SettingGroup:
    """Runs of one setting, in one game or several."""

    name: str
    runs: Sequence[Run]

    def games(self) -> list[list[Run]]:
        """Return the runs of each game."""
        return [[run for run in self.runs if run.env == env] for env in dict.fromkeys(run.env for run in self.runs)]


def draw_efficiency(session: Session, runs: Sequence[Run], center: Center, by: Sequence[str] = ()) -> Figure:
    """Return the sample-efficiency curves of groups of runs, over all games that each was trained in."""
    groups = group_runs_over_games(runs, by)
    names = group_names(groups, by) if by else group_names_over_games(groups)
    settings = [SettingGroup(name, group) for name, group in zip(names, groups, strict=True)]
    return efficiency_figure(
        settings, load_episode_returns(session, runs), strokes_by_run(group_runs(runs, by)), center
    )


def efficiency_figure(
    settings: Sequence[SettingGroup],
    episodes: Mapping[int, EpisodeReturns],
    strokes: Mapping[int, Stroke],
    center: Center,
) -> Figure:
    """Return a line for each group, up to the step that enough runs of each game and group reached.

    The figure is empty until all groups have scores in all their games.
    """
    games = list(dict.fromkeys(run.env for setting in settings for run in setting.runs))
    score = "return" if len(games) == 1 else "return, scaled per game from the lowest (0) to the highest (1)"
    layout = {
        "xaxis": {"title": {"text": "agent steps"}, "type": "linear"},
        "yaxis": {"title": {"text": f"{CENTERS[center]} of the last 100 episodes' {score}"}, "type": "linear"},
        "hovermode": hover_mode(len(settings)),
        "showlegend": len(settings) <= MAX_NAMED_LINES,
    }
    counted = _counted(settings, episodes)
    if not counted:
        return Figure(data=[], layout=layout)
    places = _places(episodes, counted)
    scores = {run_id: episodes[run_id].means(places) for run_id in counted}
    if len(games) > 1:
        runs = [run for each in settings for run in each.runs]
        scores = _scaled(scores, [[run.id for run in runs if run.env == env] for env in games])
    traces = [trace for each in settings for trace in _traces(each, places, scores, strokes[each.runs[0].id], center)]
    return to_figure(traces, layout)


def _counted(settings: Sequence[SettingGroup], episodes: Mapping[int, EpisodeReturns]) -> list[int]:
    """Return the runs that have reached the common step. Return none if a group has no score in one of its games."""
    cells = [
        [float(episodes[run.id].steps[-1]) if run.id in episodes else 0.0 for run in game]
        for setting in settings
        for game in setting.games()
    ]
    step = common_step(cells)
    if step < 1:
        return []
    runs = [run.id for setting in settings for run in setting.runs if run.id in episodes]
    return [run_id for run_id in runs if episodes[run_id].steps[-1] >= step * (1 - STEP_TOLERANCE)]


def _places(episodes: Mapping[int, EpisodeReturns], counted: Sequence[int]) -> Floats:
    """Return steps from the last run's first episode to the first run's last episode."""
    first = max(float(episodes[run_id].steps[0]) for run_id in counted)
    last = min(float(episodes[run_id].steps[-1]) for run_id in counted)
    return np.unique(np.round(np.linspace(first, max(first, last), PLACES)))


def _scaled(scores: Mapping[int, Floats], games: Sequence[Sequence[int]]) -> dict[int, Floats]:
    """Return the scores scaled in each game from the lowest (0) to the highest (1)."""
    scaled = {}
    for ids in games:
        drawn = [scores[run_id] for run_id in ids if run_id in scores]
        low, high = min(each.min() for each in drawn), max(each.max() for each in drawn)
        for run_id in ids:
            if run_id in scores:
                scaled[run_id] = (scores[run_id] - low) / ((high - low) or 1.0)
    return scaled


def _traces(
    setting: SettingGroup, places: Floats, scores: Mapping[int, Floats], stroke: Stroke, center: Center
) -> list[go.Scatter]:
    tasks = [np.array([scores[run.id] for run in game if run.id in scores]) for game in setting.games()]
    middle, around = efficiency(tasks, center)
    runs = sum(map(len, tasks))
    games = f", {len(tasks)} games" if len(tasks) > 1 else ""
    shared: dict[str, Any] = {"x": places, "mode": "lines", "legendgroup": setting.name}
    banded = bool(np.isfinite(around).all())
    texts = [
        f"{format_number(value)} [{format_number(low)}, {format_number(high)}]" if banded else format_number(value)
        for value, low, high in zip(middle, *around, strict=True)
    ]
    line = go.Scatter(
        y=middle,
        name=f"{setting.name} (n = {runs}{games})",
        line={"color": stroke.color, "dash": stroke.dash},
        uid=f"{setting.name}-line",
        text=texts,
        hovertemplate="%{text}",
        **shared,
    )
    if not banded:
        return [line]
    band: dict[str, Any] = {**shared, "hoverinfo": "skip", "showlegend": False, "line": {"width": 0}}
    filled = {"fill": "tonexty", "fillcolor": faint(stroke.color)}
    return [
        go.Scatter(y=around.low, uid=f"{setting.name}-low", **band),
        go.Scatter(y=around.high, uid=f"{setting.name}-high", **filled, **band),
        line,
    ]
