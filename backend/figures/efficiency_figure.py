"""Sample-efficiency curves of groups of runs: their scores over runs and games, by step (as rliable defines it)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.colors import Stroke
from backend.comparisons.groups import group_runs, group_runs_over_games, strokes_by_run
from backend.comparisons.labels import group_names, group_names_over_games
from backend.comparisons.scores import STEP_TOLERANCE, EpisodeReturns, common_step, load_episode_returns
from backend.database.tables import Run
from backend.figures.drawing import faint, format_number, to_figure
from backend.figures.schemas import Figure
from workers.contract.inference.means import Floats
from workers.contract.inference.samples import Center, efficiency

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
        "hovermode": "x unified",
        "showlegend": True,
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
