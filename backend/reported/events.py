"""Events of a script. The models describe them; only the rare kinds are validated one by one."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from backend.artifacts.schemas import NewVersion
from backend.database.tables import MediaKind
from backend.web.json_numbers import JsonNumber
from workers.contract.events import LogLevel, Sha256
from workers.contract.provenance import Provenance
from workers.contract.values import LARGEST, Id, Integer, Message, Text, Traceback

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
