"""The sample-efficiency curve of groups of runs: their scores over runs and games, by step (rliable's definition)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.colors import Stroke
from backend.comparisons.scores import FEWEST, NEARLY, Trail, common_step
from backend.comparisons.statistics import Center, Floats, efficiency
from backend.database.tables import Run
from backend.figures.drawing import as_text, faint, number, plain, significant
from backend.figures.schemas import Figure

PLACES = 60
CENTERS: dict[Center, str] = {"mean": "mean", "iqm": "interquartile mean"}


@dataclass(frozen=True)
class Learner:
    """A group of runs, of one game or several."""

    name: str
    runs: Sequence[Run]

    def games(self) -> list[list[Run]]:
        """Its runs by game."""
        return [[run for run in self.runs if run.env == env] for env in dict.fromkeys(run.env for run in self.runs)]


def efficiency_figure(
    learners: Sequence[Learner], trails: Mapping[int, Trail], strokes: Mapping[int, Stroke], center: Center
) -> Figure:
    """A line a group until the step that enough runs of each game and group reached; empty before all have scores."""
    games = list(dict.fromkeys(run.env for learner in learners for run in learner.runs))
    score = "return" if len(games) == 1 else "return, in each game from the least (0) to the greatest (1) of these runs"
    layout = {
        "xaxis": {"title": {"text": "agent steps"}, "type": "linear"},
        "yaxis": {"title": {"text": f"{CENTERS[center]} of the last 100 episodes' {score}"}, "type": "linear"},
        "hovermode": "x unified",
        "showlegend": True,
    }
    counted = _counted(learners, trails)
    if not counted:
        return Figure(data=[], layout=layout)
    places = _places(trails, counted)
    scores = {run_id: trails[run_id].means(places) for run_id in counted}
    if len(games) > 1:
        runs = [run for each in learners for run in each.runs]
        scores = _scaled(scores, [[run.id for run in runs if run.env == env] for env in games])
    traces = [trace for each in learners for trace in _traces(each, places, scores, strokes[each.runs[0].id], center)]
    return Figure(data=[plain(trace) for trace in traces], layout=layout)


def _counted(learners: Sequence[Learner], trails: Mapping[int, Trail]) -> list[int]:
    """The runs that have reached the common step; none where a group has no score in one of its games."""
    cells = [
        [float(trails[run.id].steps[-1]) if run.id in trails else 0.0 for run in game]
        for learner in learners
        for game in learner.games()
    ]
    step = common_step(cells)
    if step < 1:
        return []
    runs = [run.id for learner in learners for run in learner.runs if run.id in trails]
    return [run_id for run_id in runs if trails[run_id].steps[-1] >= step * (1 - NEARLY)]


def _places(trails: Mapping[int, Trail], counted: Sequence[int]) -> Floats:
    """From where each run has an episode to where the first of them ends."""
    first = max(float(trails[run_id].steps[0]) for run_id in counted)
    last = min(float(trails[run_id].steps[-1]) for run_id in counted)
    return np.unique(np.round(np.linspace(first, max(first, last), PLACES)))


def _scaled(scores: Mapping[int, Floats], games: Sequence[Sequence[int]]) -> dict[int, Floats]:
    """Scores of each game between the least and the greatest that any of its runs has."""
    told = {}
    for ids in games:
        drawn = [scores[run_id] for run_id in ids if run_id in scores]
        low, high = min(each.min() for each in drawn), max(each.max() for each in drawn)
        for run_id in ids:
            if run_id in scores:
                told[run_id] = (scores[run_id] - low) / ((high - low) or 1.0)
    return told


def _traces(
    learner: Learner, places: Floats, scores: Mapping[int, Floats], stroke: Stroke, center: Center
) -> list[go.Scatter]:
    tasks = [np.array([scores[run.id] for run in game if run.id in scores]) for game in learner.games()]
    middle, around = efficiency(tasks, center)
    runs = sum(map(len, tasks))
    games = f", {len(tasks)} games" if len(tasks) > 1 else ""
    shared: dict[str, Any] = {"x": places, "mode": "lines", "legendgroup": learner.name}
    banded = min(map(len, tasks)) >= FEWEST
    texts = [
        f"{number(value)} [{number(low)}, {number(high)}]" if banded else number(value)
        for value, low, high in zip(middle, *around, strict=True)
    ]
    line = go.Scatter(
        y=significant(middle),
        name=as_text(f"{learner.name} (n = {runs}{games})"),
        line={"color": stroke.color, "dash": stroke.dash},
        uid=f"{learner.name}-line",
        text=texts,
        hovertemplate="%{text}",
        **shared,
    )
    if not banded:
        return [line]
    band: dict[str, Any] = {**shared, "hoverinfo": "skip", "showlegend": False, "line": {"width": 0}}
    filled = {"fill": "tonexty", "fillcolor": faint(stroke.color)}
    return [
        go.Scatter(y=significant(around.low), uid=f"{learner.name}-low", **band),
        go.Scatter(y=significant(around.high), uid=f"{learner.name}-high", **filled, **band),
        line,
    ]
