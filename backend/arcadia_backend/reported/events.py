"""Events of a script and their values. The models describe them; only the rare kinds are validated one by one."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy.orm import Session

from arcadia_backend.artifacts.schemas import NewVersion
from arcadia_backend.database.tables import Attempt, LogLine, MediaKind, Run, RunTag
from arcadia_backend.web.formats import JsonNumber, spelled
from arcadia_workers.contract.events import LogLevel, Sha256
from arcadia_workers.contract.provenance import Provenance
from arcadia_workers.contract.values import LARGEST, Id, Integer, Message, Text, Traceback, storable


class Omissions:
    """The kinds of problems with the events of one writer. Each kind is mentioned once in the run's log."""

    def __init__(self, session: Session, attempt: Attempt) -> None:
        self._session, self._attempt = session, attempt
        self._mentioned = set(attempt.problems or [])

    def add(self, kind: str, sentence: str) -> None:
        """Log a warning, unless there was a problem of this kind before."""
        if kind in self._mentioned:
            return
        self._mentioned.add(kind)
        self._attempt.problems = sorted(self._mentioned)
        line = f"{sentence} Further problems of this kind are not mentioned."
        attempt = self._attempt
        self._session.add(LogLine(run_id=attempt.run_id, attempt=attempt.attempt, level="warning", message=line))


# How a script ends its run. These are also states of the run.
EndOutcome = Literal["finished", "failed", "stopped", "paused"]

MAX_NAME, MAX_TAG, MAX_TAGS, MAX_NOTES, MAX_CAPTION = 200, 50, 20, 20_000, 1_000

MediaName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]


def _kind_is_required(schema: dict[str, Any]) -> None:
    """Mark the kind as required. Its default only helps Python code that creates events."""
    schema["required"] = ["kind", *schema["required"]]


class _Event(BaseModel):
    # A newer client may send fields that this version does not know.
    model_config = ConfigDict(extra="ignore", json_schema_extra=_kind_is_required)

    seq: int = Field(ge=1, le=2**31 - 1, description="Number of the event within its writer, from 1.")
    time: float = Field(description="Unix time in seconds.")


class LoggedMetrics(_Event):
    """Values of metrics at a step."""

    kind: Literal["metrics"] = "metrics"
    step: Integer
    values: dict[str, JsonNumber] = Field(description="By name: any printable text of 1 to 200 characters.")


class LoggedLine(_Event):
    """A line of the log."""

    kind: Literal["log"] = "log"
    level: LogLevel = "info"
    message: Message


class LoggedConfig(_Event):
    """Fields of the configuration to add or replace."""

    kind: Literal["config"] = "config"
    values: dict[str, Any]


class LoggedTags(_Event):
    """Tags to add to the run, and tags to remove."""

    kind: Literal["tags"] = "tags"
    add: list[Text] = []
    remove: list[Text] = []


class LoggedNotes(_Event):
    """The notes of the run, which replace earlier ones."""

    kind: Literal["notes"] = "notes"
    text: Text


class LoggedDescription(_Event):
    """The run's name, project, method or environment, which replace earlier ones."""

    kind: Literal["description"] = "description"
    name: Text | None = None
    project: Text | None = None
    method: Text | None = Field(default=None, description="Any text, such as PPO.")
    env: Text | None = Field(default=None, description="Any text, such as CartPole-v1.")


class LoggedProgress(_Event):
    """The number of steps that the run will have."""

    kind: Literal["progress"] = "progress"
    total_steps: Annotated[int, Field(ge=1, le=LARGEST)] | None


class LoggedProvenance(_Event):
    """The code, packages and host of the script."""

    kind: Literal["provenance"] = "provenance"
    provenance: Provenance


class LoggedMedia(_Event):
    """An image, a video, a histogram or a table."""

    kind: Literal["media"] = "media"
    step: Integer
    name: MediaName
    media: MediaKind
    sha256: Sha256 | None = Field(default=None, description="Hash of an uploaded image or video.")
    data: dict[str, Any] | None = Field(
        default=None, description="A histogram has edges and counts, a table columns and rows."
    )
    caption: Text | None = None


class LoggedAlert(_Event):
    """A message for people."""

    kind: Literal["alert"] = "alert"
    level: LogLevel = "warning"
    title: Text
    text: Text = ""


class LoggedArtifact(_Event):
    """A version of an artifact. Its files are uploaded before."""

    kind: Literal["artifact"] = "artifact"
    artifact: NewVersion


class UsedArtifact(_Event):
    """The use of a version of an artifact, by its id and its contents."""

    kind: Literal["artifact_use"] = "artifact_use"
    version_id: Id
    digest: Sha256


class LoggedEnd(_Event):
    """The end of the script."""

    kind: Literal["end"] = "end"
    outcome: EndOutcome
    message: Message | None = None
    traceback: Traceback | None = None


LoggedEvent = Annotated[
    LoggedMetrics
    | LoggedLine
    | LoggedConfig
    | LoggedTags
    | LoggedNotes
    | LoggedDescription
    | LoggedProgress
    | LoggedProvenance
    | LoggedMedia
    | LoggedAlert
    | LoggedArtifact
    | UsedArtifact
    | LoggedEnd,
    Field(discriminator="kind"),
]

# Every kind except metrics.
MODELS: dict[str, type[_Event]] = {
    "log": LoggedLine,
    "config": LoggedConfig,
    "tags": LoggedTags,
    "notes": LoggedNotes,
    "description": LoggedDescription,
    "progress": LoggedProgress,
    "provenance": LoggedProvenance,
    "media": LoggedMedia,
    "alert": LoggedAlert,
    "artifact": LoggedArtifact,
    "artifact_use": UsedArtifact,
    "end": LoggedEnd,
}


MAX_CONFIG_FIELDS = 1_000
MAX_CONFIG_BYTES = 256_000
# Deeper values become text.
MAX_DEPTH = 10
MAX_FIELD_NAME = 200
SHOWN_CHARACTERS = 60
# Length of a method or an environment.
MAX_CHOICE = 100
# How scripts name their environment and their method, such as those of CleanRL, RL Zoo and Stable-Baselines3.
ENV_FIELDS = ("env_id", "env_name", "gym_id", "env", "environment")
METHOD_FIELDS = ("algorithm", "algo", "method", "exp_name")


def quote(text: object) -> str:
    """Return a value in quotes, cut for a message."""
    shown = str(text)
    return repr(shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}…")


def to_storable(value: Any, depth: int = 0) -> Any:
    """Return a JSON value that both databases store: NaN and infinities become text."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else spelled(value)
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return storable(json.dumps(value)[:1_000])
    if isinstance(value, dict):
        return {str(storable(name)): to_storable(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [to_storable(each, depth + 1) for each in value]
    return value


def merge_config(run: Run, values: dict[str, Any], omissions: Omissions) -> None:
    """Add fields to a run's configuration, or replace them. Leave out what would make it too large."""
    merged = dict(run.config)
    for name, value in values.items():
        field = str(storable(name))[:MAX_FIELD_NAME]
        if field not in merged and len(merged) >= MAX_CONFIG_FIELDS:
            omissions.add("config fields", f"Left out configuration fields beyond {MAX_CONFIG_FIELDS:,}.")
            break
        merged[field] = to_storable(value)
    if len(json.dumps(merged)) > MAX_CONFIG_BYTES:
        omissions.add("config size", f"Left out configuration fields beyond {MAX_CONFIG_BYTES:,} bytes.")
        return
    run.config = merged
    run.env = run.env or described_env(merged)
    run.algorithm = run.algorithm or described_method(merged)


def described_env(config: Mapping[str, Any]) -> str:
    """Return the environment that a configuration names, or an empty text."""
    return _first_text(config, ENV_FIELDS)


def described_method(config: Mapping[str, Any]) -> str:
    """Return the method that a configuration names, or an empty text."""
    return _first_text(config, METHOD_FIELDS)


def _first_text(config: Mapping[str, Any], fields: Iterable[str]) -> str:
    texts = (str(storable(value)).strip()[:MAX_CHOICE] for name in fields if isinstance(value := config.get(name), str))
    return next(filter(None, texts), "")


def change_tags(run: Run, add: list[str], remove: list[str], omissions: Omissions) -> None:
    """Add tags to a run, and remove others. Leave out empty ones, long ones and those beyond the limit."""
    kept = {tag.tag: tag for tag in run.tags if tag.tag not in remove}
    for tag in (tag.strip() for tag in add):
        if tag in kept or not tag:
            continue
        if len(tag) > MAX_TAG or len(kept) >= MAX_TAGS:
            omissions.add(
                "tags", f"Left out the tag {quote(tag)}: a run has at most {MAX_TAGS} of {MAX_TAG} characters."
            )
            continue
        kept[tag] = RunTag(tag=tag)
    run.tags = list(kept.values())
