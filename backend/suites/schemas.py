"""API schemas of suites and their aggregates."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from backend.comparisons.schemas import Estimate
from backend.games.schemas import Source
from backend.studies.specification import Name, Seeds
from workers.contract.values import NO_BOOLEAN, ShortText


class ListedGame(BaseModel):
    """A game of a list."""

    env: str
    name: str
    slug: str = Field(description="Name in URLs.")


class SuiteList(BaseModel):
    """A named list of games, with the settings that suites over it usually have."""

    name: str
    title: str
    sentence: str = Field(description="What the list is for.")
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
