"""Events of a trainer, and requested changes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter, ValidationError

from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.config.problems import FieldProblem, problems_of
from arcadia_workers.contract.futures import CalibrationDocument, FuturesDocument
from arcadia_workers.contract.practice import AgentMeasurement, PracticeDocument, PracticePlan
from arcadia_workers.contract.protocols.document import EvaluationDocument, PlayedEpisode
from arcadia_workers.contract.protocols.starts import CAP_FRAMES, SEEDS, HeldAction
from arcadia_workers.contract.provenance import Provenance
from arcadia_workers.contract.review import ReviewDocument
from arcadia_workers.contract.values import (
    Count,
    Integer,
    Message,
    Ordinal,
    ShortText,
    SmallCount,
    Text,
    Traceback,
    Truth,
)

MAX_FIELDS = 50
ChangedFields = Annotated[dict[Text, JsonValue], Field(min_length=1, max_length=MAX_FIELDS)]


class RequestedChange(BaseModel):
    """A requested change. Its number identifies it within the run, so that it is applied once."""

    model_config = ConfigDict(extra="ignore")

    number: Ordinal
    fields: ChangedFields
    step: Count = Field(default=0, description="It is applied at the first update at or after this step.")


changes_adapter: TypeAdapter[list[RequestedChange]] = TypeAdapter(list[RequestedChange])


def changeable_fields(config: type[TrainingConfig]) -> dict[str, str]:
    """Return the fields that a live run of a method can change, each with the reason why that is safe."""
    extras = {name: field.json_schema_extra for name, field in config.model_fields.items()}
    return {
        name: str(extra["changeable"])
        for name, extra in extras.items()
        if isinstance(extra, dict) and "changeable" in extra
    }


def changed(config: TrainingConfig, fields: Mapping[str, object]) -> TrainingConfig | list[FieldProblem]:
    """Return the configuration with the changed fields, or the problems with them."""
    known, allowed = type(config).model_fields, changeable_fields(type(config))
    problems = [FieldProblem(name, _FORK) for name in fields if name in known and name not in allowed]
    if problems:
        return problems
    try:
        # Through JSON, because the model's validators take plain values.
        return type(config).model_validate({**config.model_dump(mode="json"), **fields})
    except ValidationError as error:
        return problems_of(error, config.algorithm)


_FORK = "a run cannot change this while it trains: fork the run from a checkpoint to change it"


# A line of the event file must fit into a request body of at most 4 MB.
LONGEST_LINE = 3_000_000

# Limit of a kept game, enough for the start points of a protocol.
MOST_SCREENS = 100

# Beginning of the failure message of a run whose weights are NaN or infinite.
DIVERGED = "The run has diverged"

RoleKind = Literal["shard", "replay", "bundle", "actor", "learner"]
LogLevel = Literal["info", "warning", "error"]
FileKind = Literal["checkpoint", "video", "poster", "track", "saliency"]
Sha256 = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


def _kind_is_required(schema: dict[str, Any]) -> None:
    """Mark the kind as required. Its default only helps Python code that creates events."""
    schema["required"] = ["kind", *schema["required"]]


class _Event(BaseModel):
    # NaN and infinity are valid values. JSON has them as the strings "NaN", "Infinity" and "-Infinity".
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings", json_schema_extra=_kind_is_required)

    # The fields with paths of files, which are uploaded before the event is posted.
    files: ClassVar[Sequence[tuple[FileKind, str]]] = ()

    seq: Ordinal = Field(description="Number of the event within its attempt, from 1.")
    time: float = Field(
        allow_inf_nan=False,
        description="Unix time in seconds. The time of metrics excludes clock jumps and suspended time.",
    )
    step: Count = Field(description="Agent decisions so far.")
    frames: Count = Field(description="Emulator frames so far.")


class Episode(BaseModel):
    """A finished training episode. Its return is the sum of the raw, unclipped rewards."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")

    step: Count
    frames: Count
    episode_return: float
    length: Count


class CheckpointFile(BaseModel):
    """A checkpoint file in the run directory, with the hash of its content."""

    model_config = ConfigDict(extra="forbid")

    file: Text = Field(
        description="Path relative to the run directory, such as checkpoints/step-000000100000.safetensors."
    )
    sha256: Sha256
    bytes: Count
    step: Count
    frames: Count


class RolePlace(BaseModel):
    """One role of a run with several roles, and its host."""

    model_config = ConfigDict(extra="forbid")

    kind: RoleKind
    number: Count = Field(description="Index among the roles of its kind, from 0.")
    host: Text = Field(description="Name and address, such as sun (10.0.0.1).")
    times_lost: Count = Field(description="How often this role was lost and replaced in this attempt.")


class Started(_Event):
    kind: Literal["started"] = "started"
    resumed_from: Count | None = Field(
        default=None,
        description="Step of the checkpoint from which this attempt continued, if any.",
    )
    seed: Integer
    device: Text
    precision: Text
    command: list[Text]
    versions: dict[Text, Text]
    host: Text


class ProvenanceEvent(_Event):
    kind: Literal["provenance"] = "provenance"
    provenance: Provenance


class StartStep(_Event):
    kind: Literal["start_step"] = "start_step"
    name: ShortText | None = Field(
        description="What the trainer is doing, such as Loading PyTorch. None after the first update."
    )


class Metrics(_Event):
    kind: Literal["metrics"] = "metrics"
    values: dict[Text, float] = Field(default_factory=dict)
    episodes: list[Episode] = Field(default_factory=list, description="Every episode that ended since the last event.")


class Log(_Event):
    kind: Literal["log"] = "log"
    level: LogLevel = "info"
    message: Message


class Roles(_Event):
    kind: Literal["roles"] = "roles"
    roles: list[RolePlace] = Field(description="All roles, at the start and after each change.")


class Changed(_Event):
    kind: Literal["changed"] = "changed"
    number: Ordinal = Field(description="Number of the change within its run. Each is applied once.")
    fields: dict[Text, JsonValue] = Field(description="The new values. Updates after this step use them.")
    previous: dict[Text, JsonValue] = Field(description="The previous values of the same fields.")


class Progress(_Event):
    kind: Literal["progress"] = "progress"
    total_steps: Count
    steps_per_second: float
    seconds_left: float | None = None


class RecordingReplays(_Event):
    kind: Literal["recording_replays"] = "recording_replays"
    left: Count = Field(description="Replays that are not recorded yet. The training has ended.")
    total: Count = Field(description="Replays that were not recorded when the training ended.")


class CheckpointEvent(_Event):
    kind: Literal["checkpoint"] = "checkpoint"
    files = (("checkpoint", "checkpoint.file"),)
    checkpoint: CheckpointFile
    return_mean: float | None = Field(default=None, description="Mean return of the last 100 training episodes.")
    best: Truth = Field(description="Whether return_mean is the highest of this run so far.")
    kept: list[Text] = Field(description="Files still on disk: the first, best and last, and others in between.")


class ReplayEvent(_Event):
    kind: Literal["video"] = "video"
    files = (("video", "file"), ("poster", "poster"), ("video", "seen"), ("track", "track"))
    file: Text = Field(description="H.264 mp4, relative to the run directory.")
    poster: Text = Field(description="PNG of the last frame, relative to the run directory.")
    seen: Text | None = Field(
        default=None,
        description="mp4 of the network's input, synchronized with the file. None without picture input.",
    )
    track: Text | None = Field(
        default=None, description="The track, as an .npz file. None in events of earlier versions."
    )
    checkpoint: Text = Field(description="Checkpoint file of the agent.")
    episode_return: float
    length: SmallCount
    seconds: float


class EvaluatedEpisode(_Event):
    kind: Literal["evaluated_episode"] = "evaluated_episode"
    episode: PlayedEpisode
    done: Count = Field(description="Finished episodes, including this one.")
    episodes: Count = Field(description="Total episodes of the evaluation.")


class EvaluationEvent(_Event):
    kind: Literal["evaluation"] = "evaluation"
    returns: list[float] = Field(description="The document's scores.")
    document: EvaluationDocument | None = Field(
        default=None, description="The full evaluation. None in events of earlier versions."
    )


class Advanced(_Event):
    kind: Literal["advanced"] = "advanced"
    done: Count = Field(description="Amount of a job that is done. Evaluations report episodes instead.")
    total: Count


class SaliencyEvent(_Event):
    kind: Literal["saliency"] = "saliency"
    files = (("saliency", "file"),)
    file: Text = Field(description="The saliency, as an .npz file.")


class FuturesEvent(_Event):
    kind: Literal["futures"] = "futures"
    files = (("video", "document.videos.file"),)
    document: FuturesDocument


class CalibrationEvent(_Event):
    kind: Literal["calibration"] = "calibration"
    document: CalibrationDocument


class ReviewEvent(_Event):
    """What a review has found so far. The last one is its result."""

    kind: Literal["review"] = "review"
    document: ReviewDocument


class PracticeEvent(_Event):
    """The plan of a practice, or what one of its agents does. The last one completes the document."""

    kind: Literal["practice"] = "practice"
    plan: PracticePlan | None = None
    measured: AgentMeasurement
    document: PracticeDocument | None = None


class Continued(BaseModel):
    """The part of a kept game that follows a decision of a replay."""

    model_config = ConfigDict(extra="forbid")

    frames: Count = Field(description="Frames of the game before the decision.")
    score: float = Field(description="Score from the decision on.")
    agent_frames: Count = Field(description="Frames since the decision in which the agent played.")


class GameKept(_Event):
    kind: Literal["kept_game"] = "kept_game"
    seed: Annotated[int, Field(ge=0, lt=SEEDS)]
    actions: Annotated[list[HeldAction], Field(min_length=1, max_length=CAP_FRAMES)]
    played: Annotated[int, Field(ge=1, le=CAP_FRAMES)] = Field(description="Frames of the game.")
    score: float
    ended: Literal["over", "cut off", "unfinished"]
    emulator: ShortText
    screens: Annotated[list[tuple[Count, Sha256]], Field(max_length=MOST_SCREENS)] = Field(
        description="Frames spread over the game, with the hash of the screen after each."
    )
    continued: Continued | None = Field(default=None, description="None if a person played the game from its start.")


class StartPointsEvent(_Event):
    kind: Literal["start_points"] = "start_points"
    seed: Annotated[int, Field(ge=0, lt=SEEDS)]
    actions: Annotated[list[HeldAction], Field(min_length=1, max_length=CAP_FRAMES)] = Field(
        description="Actions from the reset to the last point."
    )
    emulator: ShortText
    screens: Annotated[list[tuple[Ordinal, Sha256]], Field(min_length=1, max_length=MOST_SCREENS)] = Field(
        description="The frame of each point, with the hash of the screen after it."
    )


class Film(_Event):
    kind: Literal["film"] = "film"
    files = (("poster", "poster"), ("video", "file"))
    file: Text = Field(description="H.264 mp4 of a kept game.")
    poster: Text = Field(description="PNG of its last frame.")


class Stopped(_Event):
    kind: Literal["stopped"] = "stopped"
    reason: Message


class Finished(_Event):
    kind: Literal["finished"] = "finished"


class Failed(_Event):
    kind: Literal["failed"] = "failed"
    message: Message
    # Empty if the message is enough.
    traceback: Traceback


Event = Annotated[
    Started
    | ProvenanceEvent
    | StartStep
    | Metrics
    | Log
    | Roles
    | Changed
    | Progress
    | RecordingReplays
    | CheckpointEvent
    | ReplayEvent
    | EvaluatedEpisode
    | EvaluationEvent
    | Advanced
    | SaliencyEvent
    | FuturesEvent
    | CalibrationEvent
    | ReviewEvent
    | PracticeEvent
    | GameKept
    | StartPointsEvent
    | Film
    | Stopped
    | Finished
    | Failed,
    Field(discriminator="kind"),
]

event_adapter: TypeAdapter[Event] = TypeAdapter(Event)

_FILES: dict[str, Sequence[tuple[FileKind, str]]] = {
    each.model_fields["kind"].default: each.files for each in get_args(get_args(Event)[0])
}


def files_named(event: Mapping[str, Any]) -> list[tuple[FileKind, str]]:
    """Return the files of an event of any version, in the order of their upload."""
    fields = _FILES.get(event["kind"], ())
    return [(kind, path) for kind, field in fields for path in _paths(event, field.split("."))]


def _paths(value: Any, names: Sequence[str]) -> list[str]:
    """Return the paths at a field of a part of an event. A list has the field in each item."""
    if isinstance(value, list):
        return [path for item in value for path in _paths(item, names)]
    if names:
        return _paths(value.get(names[0]), names[1:]) if value else []
    return [str(value)] if value else []
