"""Suites: studies over lists of games, and the statistics of a study over its games.

The statistics are those of rliable (Agarwal et al. 2021). The score of a run is its last comparable evaluation, because
choosing its best checkpoint would favor luck. Only finished runs count. Scores are human-normalized, in percent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import plotly.graph_objects as go
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.checkpoints.service import comparable_evaluations_of
from arcadia_backend.colors import COLORS_PER_CHART, PALETTE
from arcadia_backend.comparisons.schemas import Estimate
from arcadia_backend.configuration import to_document
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Evaluation, Job, Run, Study
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.figures.drawing import Figure, as_text
from arcadia_backend.games.schemas import Source
from arcadia_backend.games.scores import normalized, reference
from arcadia_backend.games.service import ATARI, GAMES, slug_of
from arcadia_backend.jobs import UNFINISHED
from arcadia_backend.studies.points import point_config, point_values, read_specification
from arcadia_backend.studies.results import Point, load_points
from arcadia_backend.studies.service import find_study
from arcadia_backend.studies.specification import Axis, Name, Seeds, Specification, point_label
from arcadia_backend.web.lookup import PathId
from arcadia_workers.contract import published
from arcadia_workers.contract.config.emulator import protocol_of, unfit_without_starts_because, usual_protocol
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.game_lists import GAME_LISTS, GameList
from arcadia_workers.contract.games import close_to, env_title
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.inference.samples import (
    interquartile_of_all,
    mean_of_means,
    median_of_means,
    over_tasks,
)
from arcadia_workers.contract.presets import PRESETS, Preset, unknown_preset
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import NormalizedBy
from arcadia_workers.contract.values import NO_BOOLEAN, ShortText


class ListedGame(BaseModel):
    """A game of a list."""

    env: str
    name: str
    slug: str = Field(description="Name in URLs.")


class SuiteList(BaseModel):
    """A named list of games, with the settings that suites over it usually have."""

    name: str
    title: str
    sentence: str = Field(description="Purpose of the list.")
    source: str = Field(description="Who chose the games.")
    games: list[ListedGame]
    protocol: str
    preset: str
    total_steps: int = Field(description="Steps of each run.")


class SuiteRequest(BaseModel):
    """A suite to plan. By default, it has the settings of its list."""

    model_config = ConfigDict(extra="forbid")

    games: (
        Annotated[str, Field(max_length=60, description="Name of a list, such as atari-5, or of a game.")]
        | Annotated[
            list[ShortText],
            Field(min_length=1, max_length=200, description="Atari games, such as pong or ALE/Pong-v5."),
        ]
    )
    preset: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="Preset of all runs. Default: the list's, or paac-sticky."
    )
    protocol: ShortText | None = Field(
        default=None, description="Protocol of the evaluations. Default: the preset's, or the list's."
    )
    total_steps: Annotated[int, Field(ge=1, le=10_000_000_000), NO_BOOLEAN] | None = Field(
        default=None, description="Steps of each run. Default: the list's, or the preset's."
    )
    seeds: Seeds = [1]
    name: Name | None = Field(default=None, description="Default: the list and the preset.")


class SuiteGame(BaseModel):
    """The runs of a game in a suite."""

    env: str
    name: str
    slug: str | None = Field(description="Name in URLs; null if the game has no page.")
    runs: int = Field(description="Planned runs.")
    finished: int
    failed: int = Field(description="Failed runs. The means leave them out.")
    scored: int = Field(description="Finished runs whose last evaluation by the protocol counts.")
    score: float | None = Field(description="Mean over these runs.")
    percent: float | None = Field(description="Mean human-normalized score; null without one.")
    not_normalized_because: str | None
    episodes_done: int = Field(description="Episodes played in evaluations under way.")
    episodes_total: int = Field(description="Episodes of the evaluations under way.")


class SuiteResult(BaseModel):
    """The runs of one setting in all games. The statistics are over human-normalized scores, in percent."""

    label: str
    protocol: str
    protocol_title: str
    games: list[SuiteGame]
    normalized_games: int = Field(description="Games with a normalized score. The statistics are over these.")
    seeds: int = Field(
        description="Fewest scored runs of such a game. Intervals need three, those of the interquartile mean five."
    )
    median: Estimate | None = Field(description="Median over games of the mean over runs.")
    interquartile_mean: Estimate | None = Field(description="Mean of the middle half of all runs.")
    mean: Estimate | None = Field(description="Mean over games of the mean over runs.")
    optimality_gap: Estimate | None = Field(description="Mean amount by which runs miss the human score.")
    estimated_median: Estimate | None = Field(
        description="Median over 57 games, estimated from Atari-5. Null without a score in each of its games."
    )
    normalized_by: list[Source]


class Aggregates(BaseModel):
    """Scores of a study over its games, one result per combination of its other axes."""

    results: list[SuiteResult]
    estimate_source: Source = Field(description="Source of the weights of Atari-5.")


def read_game_lists() -> list[SuiteList]:
    """Return the lists of games that suites can run over."""
    return [
        SuiteList(
            name=each.name,
            title=each.title,
            sentence=each.sentence,
            source=each.source,
            games=[ListedGame(env=env, name=env_title(env), slug=slug_of(env)) for env in each.games],
            protocol=each.protocol,
            preset=each.preset,
            total_steps=each.total_steps,
        )
        for each in GAME_LISTS.values()
    ]


DEFAULT_PRESET = "paac-sticky"


def specification(request: SuiteRequest) -> Specification:
    """Return the study of a suite. Raise Invalid for unknown games, presets and protocols."""
    named = [request.games] if isinstance(request.games, str) else request.games
    games = GAME_LISTS.get(named[0]) if len(named) == 1 else None
    envs = games.games if games else _own_games(named)
    chosen = request.preset or (games.preset if games else DEFAULT_PRESET)
    if (preset := PRESETS.get(chosen)) is None:
        raise Invalid(FieldError(field="preset", message=unknown_preset(chosen)))
    steps = request.total_steps or (games.total_steps if games else preset.config.total_steps)
    protocol = request.protocol or _default_protocol(games, preset, envs[0])
    if (reason := unfit_without_starts_because(protocol, envs[0])) is not None:
        raise Invalid(FieldError(field="protocol", message=reason))
    title = games.title if games else f"{len(envs)} games"
    return Specification(
        name=request.name or f"{title}: {preset.title}",
        question=f"Scores over {title if games else 'these games'} after {steps:,} steps per run, by {protocol}.",
        preset=preset.name,
        # Each run is evaluated once: its last checkpoint is the first at or after this step.
        changes={"evaluate_every_steps": steps, "evaluation_protocol": protocol},
        axes=[Axis(field="env", values=[*envs])],
        seeds=request.seeds,
        total_steps=steps,
    )


def _own_games(games: Sequence[str]) -> Sequence[str]:
    """Return the environments of games, which may be named as in URLs."""
    envs = [_find_game(name) for name in games]
    if len(set(envs)) < len(envs):
        raise Invalid(FieldError(field="games", message="use each game once"))
    return envs


def _find_game(name: str) -> str:
    game = GAMES.get(name)
    env = game.id if game else name
    if env not in ATARI:
        close = [slug_of(each) for each in close_to(name.replace("-", "")) if each in ATARI]
        hint = f"did you mean {', '.join(close)}?" if close else f"use names such as pong, or {' or '.join(GAME_LISTS)}"
        raise Invalid(FieldError(field="games", message=f"there is no Atari game {name[:80]!r}: {hint}"))
    return env


def _default_protocol(games: GameList | None, preset: Preset, env: str) -> str:
    """Return the protocol that the preset trains for, or else the list's."""
    if preset.config.evaluation_protocol != "auto":
        return str(preset.config.evaluation_protocol)
    return games.protocol if games else usual_protocol(env)


# Enough for ends that vary by about 1 % of an interval's width between seeds. The page shows five statistics.
DRAWS = 10_000
HUMAN = 100.0

Statistic = Callable[[Sequence[Floats]], Floats]


@dataclass(frozen=True)
class RunScores:
    """Scores of finished runs, and evaluations under way, by run."""

    final: Mapping[int, float]
    under_way: Mapping[int, tuple[int, int]]


def read_aggregates(session: Session, study: Study) -> Aggregates:
    """Return the results of a study over its games. Raise NotFound if it does not vary the game."""
    spec = read_specification(study)
    if not varies_game(spec):
        raise NotFound(f"Study {study.id} does not vary the game, so it has no aggregates over games.")
    points = load_points(session, study)
    run_ids = _run_ids(points)
    runs = session.scalars(select(Run).where(Run.id.in_(run_ids), Run.state == "finished")).all()
    final = {
        run_id: max(evaluations.values(), key=lambda each: (each.step, each.evaluation_id)).score
        for run_id, evaluations in comparable_evaluations_of(session, runs).items()
        if evaluations
    }
    query = select(Evaluation.run_id, func.sum(Job.done), func.sum(Job.total)).join(Job, Job.id == Evaluation.job_id)
    query = query.where(Evaluation.run_id.in_(run_ids), Job.state.in_(UNFINISHED)).group_by(Evaluation.run_id)
    under_way = {run_id: (int(done), int(total)) for run_id, done, total in session.execute(query)}
    scores = RunScores({run_id: score for run_id, score in final.items() if np.isfinite(score)}, under_way)
    groups: dict[str, list[tuple[str, Point]]] = {}
    for point in points:
        values = point_values(spec, point.draw)
        env = str(values.pop("env"))
        groups.setdefault(point_label(values) if values else "", []).append((env, point))
    first = published.atari_5_weights()[0]
    return Aggregates(
        results=[_result(spec, label, group, scores) for label, group in groups.items()],
        estimate_source=Source(source=first.source, table=first.table),
    )


def varies_game(spec: Specification) -> bool:
    """Return True if a study has an axis of games."""
    return any(axis.fields == ["env"] and set(map(str, axis.values or [])) <= {*ATARI} for axis in spec.axes)


def _run_ids(points: Sequence[Point]) -> list[int]:
    return [run.run_id for point in points for run in point.runs if run.run_id is not None]


def _result(spec: Specification, label: str, group: Sequence[tuple[str, Point]], scores: RunScores) -> SuiteResult:
    config = point_config(spec, group[0][1].draw, spec.seeds[0])
    protocol = protocol_of(to_document(config))
    percents: dict[str, Floats] = {}
    games: list[SuiteGame] = []
    tables: dict[tuple[str, str], Source] = {}
    for env, point in group:
        by = reference(env, protocol)
        finals = [scores.final[run_id] for run_id in _run_ids([point]) if run_id in scores.final]
        shares = [share for share in (normalized(score, by) for score in finals) if share is not None]
        if shares:
            percents[env] = np.array(shares)[:, np.newaxis]
        if isinstance(by, NormalizedBy):
            tables[by.source, by.table] = Source(source=by.source, table=by.table)
        games.append(_game(env, point, finals, shares, by, scores.under_way))
    return SuiteResult(
        label=label or title_of(config.algorithm),
        protocol=protocol,
        protocol_title=PROTOCOLS[protocol].title,
        games=games,
        normalized_games=len(percents),
        seeds=min(map(len, percents.values()), default=0),
        normalized_by=[*tables.values()],
        **_statistics(percents),
    )


def _game(
    env: str,
    point: Point,
    scores: Sequence[float],
    shares: Sequence[float],
    by: NormalizedBy | str,
    under_way: Mapping[int, tuple[int, int]],
) -> SuiteGame:
    playing = [under_way[run_id] for run_id in _run_ids([point]) if run_id in under_way]
    return SuiteGame(
        env=env,
        name=env_title(env),
        slug=slug_of(env),
        runs=len(point.runs),
        finished=sum(run.state == "finished" for run in point.runs),
        failed=sum(run.state == "failed" for run in point.runs),
        scored=len(scores),
        score=float(np.mean(scores)) if scores else None,
        percent=float(np.mean(shares)) if shares else None,
        not_normalized_because=by if isinstance(by, str) else None,
        episodes_done=sum(done for done, _ in playing),
        episodes_total=sum(total for _, total in playing),
    )


def _statistics(percents: Mapping[str, Floats]) -> dict[str, Any]:
    """Return the statistics over all games with a normalized score."""
    tasks = [*percents.values()]
    chosen = {row.env: row.weight for row in published.atari_5_weights()}
    of_atari_5 = [percents[env] for env in chosen if env in percents]
    weights = np.array([*chosen.values()])
    return {
        "median": _estimate(tasks, median_of_means),
        "interquartile_mean": _estimate(tasks, interquartile_of_all),
        "mean": _estimate(tasks, mean_of_means),
        "optimality_gap": _estimate(tasks, optimality_gap),
        "estimated_median": _estimate(of_atari_5, lambda drawn: estimated_median(drawn, weights))
        if len(of_atari_5) == len(chosen)
        else None,
    }


def _estimate(tasks: Sequence[Floats], statistic: Statistic) -> Estimate | None:
    """Return a statistic with its interval, if each game has enough runs for one."""
    if not tasks:
        return None
    value, ends = over_tasks(tasks, statistic, DRAWS)
    low, high = (float(end[0]) for end in ends)
    if not np.isfinite([low, high]).all():
        return Estimate(value=float(value[0]), low=None, high=None)
    return Estimate(value=float(value[0]), low=low, high=high)


def optimality_gap(tasks: Sequence[Floats]) -> Floats:
    """Return the mean amount by which runs miss the human score. More than human does not make up for less."""
    return np.asarray(np.mean([(HUMAN - np.minimum(task, HUMAN)).mean(axis=-2) for task in tasks], axis=0))


def estimated_median(tasks: Sequence[Floats], weights: Floats) -> Floats:
    """Estimate the median over 57 games from the games of Atari-5 (Aitchison et al. 2023).

    The weights belong to log10(1 + score). Scores below that of the random player count as 0.
    """
    logarithms = np.log10(1 + np.maximum(0.0, np.array([task.mean(axis=-2) for task in tasks])))
    return np.asarray(10 ** np.tensordot(weights, logarithms, axes=1) - 1)


STATISTICS = {
    "Median": "median",
    "Interquartile mean": "interquartile_mean",
    "Mean": "mean",
    "Optimality gap": "optimality_gap",
    "Median of 57, estimated": "estimated_median",
}
# Share of the distance between two statistics that several results take.
SPREAD = 0.5


def aggregates_figure(results: Sequence[SuiteResult]) -> Figure:
    """Draw a dot with its interval for each statistic and result, the first on top. Empty without scores."""
    shown = [title for title, name in STATISTICS.items() if any(getattr(result, name) for result in results)]
    layout = {
        "xaxis": {"title": {"text": "human-normalized score, %"}, "fixedrange": True},
        "yaxis": {
            "autorange": "reversed",
            "fixedrange": True,
            "zeroline": False,
            "tickmode": "array",
            "tickvals": [*range(len(shown))],
            "ticktext": shown,
        },
        "hovermode": "closest",
    }
    traces = [_dots(result, place, len(results), shown) for place, result in enumerate(results)]
    return Figure(data=[trace.to_plotly_json() for trace in traces if len(trace.x)], layout=layout)


def _dots(result: SuiteResult, place: int, count: int, shown: Sequence[str]) -> go.Scatter:
    dots: list[tuple[float, str, Estimate]] = []
    for row, title in enumerate(shown):
        estimate = getattr(result, STATISTICS[title])
        if estimate is not None:
            dots.append((row + SPREAD * ((place + 0.5) / count - 0.5), title, estimate))
    color = PALETTE[place % COLORS_PER_CHART]
    return go.Scatter(
        x=[estimate.value for _, _, estimate in dots],
        y=[height for height, _, _ in dots],
        mode="markers",
        name=as_text(result.label),
        marker={"color": color, "size": 9},
        error_x=_intervals([estimate for _, _, estimate in dots], color),
        hovertext=[as_text(_words(result.label, title, estimate)) for _, title, estimate in dots],
        hoverinfo="text",
        showlegend=count > 1,
    )


def _intervals(estimates: Sequence[Estimate], color: str) -> dict[str, object]:
    ends = [(each.value, each.low, each.high) for each in estimates]
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else high - value for value, _, high in ends],
        "arrayminus": [0 if low is None else value - low for value, low, _ in ends],
        "color": color,
        "thickness": 2,
        "width": 5,
        "visible": any(low is not None for _, low, _ in ends),
    }


def _words(label: str, title: str, estimate: Estimate) -> str:
    ends = "" if estimate.low is None else f", 95 % interval {estimate.low:,.4g} to {estimate.high:,.4g}"
    return f"{label}, {title.lower()}: {estimate.value:,.4g} %{ends}"


router = APIRouter(tags=["suites"])


@router.get("/suites")
def list_game_lists() -> list[SuiteList]:
    """List the named lists of games, with the settings of suites over them."""
    return read_game_lists()


@router.post("/suites/specification")
def plan_suite(request: SuiteRequest) -> Specification:
    """Return the study of a suite, to preview or start it with /studies. Nothing is stored."""
    return specification(request)


@router.get("/studies/{study_id}/aggregates")
def read_study_aggregates(db: Db, study_id: PathId) -> Aggregates:
    """Return the scores of a study over its games, with statistics and their intervals."""
    with db.read() as session:
        return read_aggregates(session, find_study(session, study_id))


@router.get("/studies/{study_id}/aggregates/figure")
def draw_study_aggregates(db: Db, study_id: PathId) -> Figure:
    """Return the statistics of a study over its games as a figure."""
    with db.read() as session:
        return aggregates_figure(read_aggregates(session, find_study(session, study_id)).results)
