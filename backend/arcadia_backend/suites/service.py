"""Specification of a suite: one study over the games of a list, whose runs are evaluated at their end."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from arcadia_backend.comparisons.schemas import Estimate
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.games.schemas import Source
from arcadia_backend.games.service import ATARI, GAMES, slug_of
from arcadia_backend.studies.specification import Axis, Name, Seeds, Specification
from arcadia_workers.contract.config.emulator import unfit_without_starts_because, usual_protocol
from arcadia_workers.contract.game_lists import GAME_LISTS, GameList
from arcadia_workers.contract.games import close_to, env_title
from arcadia_workers.contract.presets import PRESETS, Preset, unknown_preset
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
